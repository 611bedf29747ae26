import { join, resolve } from 'node:path'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import type { LaunchRequest } from '../../ports/agent-cli.ts'
import { isAtLeast, versionIn } from '../system/run-program.ts'
import { configFolder, readJson } from './claude-conversations.ts'

const StatusLine = z.looseObject({ type: z.literal('command'), command: z.string().min(1) })

type StatusLine = z.infer<typeof StatusLine>

const Settings = z.looseObject({ statusLine: StatusLine.optional().catch(undefined) })

type Settings = z.infer<typeof Settings>

/** Where a session's settings are looked for. */
type SettingsPlace = {
  readonly env: Readonly<Record<string, string>>
  readonly workingDir: string
}

/** The status line that the session would have without ours: of the project before the user's. */
export async function statusLineOf({ env, workingDir }: SettingsPlace): Promise<StatusLine | undefined> {
  const project = join(workingDir, '.claude')
  const files = [
    join(project, 'settings.local.json'),
    join(project, 'settings.json'),
    join(configFolder(env), 'settings.json'),
  ]
  for (const file of files) {
    const { statusLine } = settingsIn(await readJson(file))
    if (statusLine) return statusLine
  }
  return undefined
}

/** Takes `--settings` out of arguments: a second one would make the CLI forget the first. */
export async function takeSettings(
  args: readonly string[],
  { workingDir }: Pick<SettingsPlace, 'workingDir'>,
): Promise<{ readonly args: readonly string[]; readonly settings: Settings }> {
  const { args: rest, value } = takeFlag(args, '--settings')
  return { args: rest, settings: value === undefined ? {} : await givenSettings(value, workingDir) }
}

async function givenSettings(given: string, workingDir: string): Promise<Settings> {
  const isInline = given.trimStart().startsWith('{')
  const value = isInline ? foreignJson(given) : await readJson(resolve(workingDir, given))
  if (typeof value !== 'object' || value === null)
    throw new AppError(
      'invalid',
      `--settings ${isInline ? 'is not JSON' : `${given} cannot be read`}; fix it or leave it out`,
    )
  return settingsIn(value)
}

const settingsIn = (value: unknown): Settings => Settings.safeParse(value).data ?? {}

/** Hooks by event, as a settings file has them. */
export type Hooks = Record<string, unknown[]>

/** Events by the first version that was seen to know them; an older one stops at its start with a warning. */
const observed: readonly { readonly since: string; readonly events: readonly string[] }[] = [
  {
    since: '2.1.0',
    events: ['SessionEnd', 'UserPromptSubmit', 'PostToolUse', 'Notification', 'Stop', 'SubagentStop'],
  },
  {
    since: '2.1.197',
    events: [
      'PostToolUseFailure',
      'PermissionDenied',
      'StopFailure',
      'SubagentStart',
      'PreCompact',
      'PostCompact',
    ],
  },
]

/** Where a failing HTTP hook was seen to stop the tool. Before, it lets the tool run. */
const closesSince = '2.1.325'

/** A daemon that hangs holds the agent up no longer than this. */
const observeSeconds = 5
/** A question may wait for a person over night. More than 2,147,483 ends at once in older versions. */
const askSeconds = 86_400

type About = Pick<LaunchRequest, 'version' | 'hookUrl' | 'hookCommand' | 'role'>

/** The hooks that let a session be watched, asked for and, with a role's tools, kept to them. */
export function hookSettings(about: About): Hooks {
  // A version that does not say its name is taken for a recent one, but not trusted to close a gate.
  const isUnknown = versionIn(about.version) === undefined
  const events = observed
    .filter(({ since }) => isUnknown || isAtLeast(about.version, since))
    .flatMap((known) => known.events)
  const isGated = about.role?.tools !== undefined
  return {
    // It is the one event that is not sent over HTTP.
    SessionStart: [group(command(about, 'SessionStart'))],
    ...Object.fromEntries(events.map((event) => [event, [group(http(about, { timeout: observeSeconds }))]])),
    PermissionRequest: [group(http(about, { timeout: askSeconds }))],
    PreToolUse: [group(isGated ? gate(about) : http(about, { timeout: observeSeconds }))],
  }
}

const group = (hook: object): object => ({ hooks: [hook] })

const http = ({ hookUrl }: About, more: object): object => ({
  type: 'http',
  url: `${hookUrl}/claude`,
  headers: { authorization: 'Bearer $MUSTER_TOKEN' },
  allowedEnvVars: ['MUSTER_TOKEN'],
  ...more,
})

const command = ({ hookCommand: [program = 'sm', ...args] }: About, event: string): object => ({
  type: 'command',
  command: program,
  args: [...args, event],
  timeout: 10,
})

/**
 * Whatever goes wrong on the way to an answer must keep the tool from running. A command that is missing or
 * runs out of time lets it run, so that a shell turns every failure into a refusal and the time is a day.
 */
function gate(about: About): object {
  if (isAtLeast(about.version, closesSince)) return http(about, { timeout: 60, onFailure: 'block' })
  return {
    type: 'command',
    command: `${shellQuoted([...about.hookCommand, 'gate'])} || exit 2`,
    timeout: askSeconds,
  }
}

/** Takes a flag with its value out of arguments; the last one counts, as it does for the CLI. */
export function takeFlag(
  args: readonly string[],
  flag: string,
): { readonly args: readonly string[]; readonly value?: string } {
  const rest: string[] = []
  let value: string | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === flag) value = args[++i]
    else if (arg.startsWith(`${flag}=`)) value = arg.slice(flag.length + 1)
    else rest.push(arg)
  }
  return { args: rest, ...(value !== undefined && { value }) }
}

/** Arguments as one line for a POSIX shell that reads each of them back as it was. */
export const shellQuoted = (argv: readonly string[]): string =>
  argv.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ')
