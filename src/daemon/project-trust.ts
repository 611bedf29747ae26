import { trustDrivers } from '../adapters/git/trusted-drivers.ts'
import { replaceFile } from '../adapters/system/durable-files.ts'
import type { Engine } from '../engine/engine.ts'
import { TrustedProjects } from '../engine/project-trust.ts'
import { type InspectionParts, inspectProject } from './inspect-project.ts'

type TrustParts = InspectionParts & {
  readonly engine: Engine
  /** Where what is trusted is kept for commands that work without a daemon. */
  readonly file: string
  readonly onBug: (error: unknown, where: string) => void
}

/** What a person trusts of projects, for all that reads their files; `stop` takes it back from git. */
export function openTrust(parts: TrustParts): { readonly trusted: TrustedProjects; stop(): void } {
  const { engine, file, onBug } = parts
  let written = Promise.resolve()
  const trusted = new TrustedProjects({
    engine,
    inspect: (path, signal) => inspectProject(parts, path, signal),
    // One after the other: of two that overtake each other the older would stay.
    keep: () => (written = written.then(() => keepTrust(file, engine))),
    onBug,
  })
  const stop = trustDrivers((root, isCopy) => (isCopy ? trusted.asIn(root) : trusted.in(root)))
  return { trusted, stop }
}

/** Writes down what is trusted; the journal is the truth, and this is a view of it. */
export async function keepTrust(file: string, engine: Pick<Engine, 'trust'>): Promise<void> {
  await replaceFile(file, `${JSON.stringify([...engine.trust().values()])}\n`)
}
