import type { ResolvedLaunch } from '../../core/session/launch.ts'
import type { Parts } from './parts.ts'

/** What starting a program again needs, as it was the first time. */
export type LaunchSpec = {
  readonly resolved: Pick<
    ResolvedLaunch,
    'cli' | 'program' | 'promptBy' | 'args' | 'model' | 'permissionMode' | 'role' | 'name'
  >
  readonly version: string
  readonly workingDir: string
  readonly tmuxSession: string
  /** Without the token, which is given anew each time. */
  readonly env: Readonly<Record<string, string>>
  /** What it may write behind walls, found out once: the session itself could change what a later look would find. */
  readonly writable?: readonly string[]
}

/** Keeps it where secrets may be: the environment holds keys. */
export function keepSpec(parts: Parts, spec: LaunchSpec, owner: string): Promise<string> {
  const { resolved, version, workingDir, tmuxSession, env, writable } = spec
  const kept: LaunchSpec = {
    resolved,
    version,
    workingDir,
    tmuxSession,
    env,
    ...(writable && { writable }),
  }
  return parts.vault.put(new TextEncoder().encode(JSON.stringify(kept)), owner)
}

/** What was kept, or nothing once it has been deleted. */
export async function readSpec(parts: Parts, name: string | undefined): Promise<LaunchSpec | undefined> {
  const bytes = name === undefined ? undefined : await parts.vault.get(name)
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as LaunchSpec)
}
