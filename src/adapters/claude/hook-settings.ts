import type { LaunchRequest } from '../../ports/agent-cli.ts'
import { isAtLeast, versionIn } from './dialect/version.ts'
import { shellQuoted } from './shell-quoted.ts'

/** Hooks by event, as they stand in a settings file. */
export type Hooks = Record<string, unknown[]>

/** Events by the first version that was seen to know them; an older one stops at its start with a warning. */
const observed: readonly { readonly since: string; readonly events: readonly string[] }[] = [
  {
    since: '2.1.0',
    events: ['SessionEnd', 'UserPromptSubmit', 'PostToolUse', 'Notification', 'Stop', 'SubagentStop'],
  },
  {
    since: '2.1.197',
    events: ['PostToolUseFailure', 'PermissionDenied', 'StopFailure', 'SubagentStart', 'PostCompact'],
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
