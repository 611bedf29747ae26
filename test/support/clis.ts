import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CliName } from './hermetic.ts'

/** A coding CLI at one pinned version. */
export type Cli = { readonly name: CliName; readonly version: string }

/** The part of the installing script that tests read; being plain JavaScript, it has no types of its own. */
type Installer = {
  readonly pins: readonly Cli[]
  executableOf(pin: Cli): string | undefined
}

const script = join(import.meta.dirname, '..', '..', 'scripts', 'clis.mjs')
const installer = (await import(/* @vite-ignore */ pathToFileURL(script).href)) as Installer

/** Every CLI and version that the tests run, by name the default version first. */
export const clis: readonly Cli[] = installer.pins.map(({ name, version }) => ({ name, version }))

/** The newest version of each. */
export const newestOfEach: readonly Cli[] = clis.filter(
  ({ name }, i) => clis.findIndex((cli) => cli.name === name) === i,
)

/**
 * The part of them that this run tries: the newest Claude Code and Codex in `npm test`, the others in the matrix. A file
 * that only the matrix runs goes through all of `clis`.
 */
export const tried: readonly Cli[] = clis.filter(
  (cli) => isEssential(cli) !== (process.env['MUSTER_TEST_CLIS'] === 'others'),
)

function isEssential(cli: Cli): boolean {
  return (cli.name === 'claude' || cli.name === 'codex') && newestOfEach.includes(cli)
}

/** The absolute path of an installed CLI; undefined when it is not there. */
export function cliPath(name: CliName, version?: string): string | undefined {
  const pin = clis.find((cli) => cli.name === name && (version === undefined || cli.version === version))
  return pin === undefined ? undefined : installer.executableOf(pin)
}

/** The note of a test that is skipped because its CLI is not there. */
export const missingCli = ({ name, version }: Cli): string =>
  `${name} ${version} is not installed; run: npm run clis -- ${name}`
