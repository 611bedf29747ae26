import { createHash } from 'node:crypto'
import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { decidingHook, tellingHook } from '../system/hook-command.ts'
import { fitsArgument } from '../system/run-program.ts'

/**
 * Codex asks by sandbox: what the sandbox forbids is asked for. `manual` forbids every change, `acceptEdits` those
 * outside the folder, and `plan` forbids every change and asks nothing; its own Plan mode cannot be set at start.
 */
const modes: Readonly<Record<PermissionMode, readonly string[]>> = {
  manual: ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
  acceptEdits: ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request'],
  plan: ['--sandbox', 'read-only', '--ask-for-approval', 'never'],
  bypass: ['--dangerously-bypass-approvals-and-sandbox'],
}

/** Everything goes on the command line: CODEX_HOME holds the login and is the user's own. */
export function codexPlan(request: LaunchRequest): LaunchPlan {
  const { command, args, foreignId, prompt, model, role } = request
  const tools = role?.tools
  const settings: Record<string, Toml> = {
    // Without this the program leaves a server process behind, outside the terminal.
    'features.daemon_auto_start': false,
    // The notice of an update is a dialog that would take the prompt's place.
    check_for_update_on_startup: false,
    'tui.terminal_title': ['activity', 'project-name'],
    hooks: codexHooks(request.hookCommand, tools !== undefined),
    ...instructions(request),
    // The provider runs this tool itself: no hook is asked before it.
    ...(tools && !tools.includes('WebSearch') && { web_search: 'disabled' }),
  }
  const isResumed = request.resume && foreignId !== undefined
  const isPromptGiven = prompt !== undefined && fitsArgument(prompt)
  return {
    argv: [
      command,
      ...(isResumed ? ['resume'] : []),
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]),
      ...modes[request.permissionMode],
      ...(model === undefined ? [] : ['--model', model]),
      ...args,
      // Behind this a prompt that begins with a dash is still a prompt.
      ...(isResumed || isPromptGiven ? ['--'] : []),
      ...(isResumed ? [foreignId] : []),
      ...(isPromptGiven ? [prompt] : []),
    ],
    env: {},
    files: [],
    isPromptGiven,
    ...(isResumed && { foreignId }),
  }
}

/** No program reaches the daemon from inside the sandbox; what only reports is let out of it unasked. */
const outside =
  'The command `sm` talks to the manager of this session, which the sandbox blocks: run it as a command by itself, ' +
  'with sandbox_permissions "require_escalated".'

function instructions({ role, permissionMode }: LaunchRequest): Record<string, Toml> {
  const asks = permissionMode === 'manual' || permissionMode === 'acceptEdits'
  const texts = [role?.text ?? '', asks ? outside : ''].filter((text) => text !== '')
  return texts.length === 0 ? {} : { developer_instructions: texts.join('\n\n') }
}

const shortly = 10
/** How long each hook may take, in seconds. A permission may wait for a person; Codex cuts the last two at 3. */
const events: Readonly<Record<string, number>> = {
  SessionStart: shortly,
  UserPromptSubmit: shortly,
  PreToolUse: shortly,
  PermissionRequest: 86_400,
  PostToolUse: shortly,
  SubagentStart: shortly,
  SubagentStop: shortly,
  PreCompact: shortly,
  PostCompact: shortly,
  Stop: shortly,
  SessionEnd: 3,
  Interrupt: 3,
}
/** A gate that is cut off lets the tool run, so it ends by itself long before this. */
const gateSeconds = 600

/**
 * Hooks for one run, given on the command line. Codex runs a hook only when its fingerprint is among the trusted
 * ones, and takes those from the command line too: so exactly these are trusted, and the user's own and the
 * project's are still reviewed as always.
 */
export function codexHooks(hookCommand: readonly string[], isGated: boolean): Toml {
  const entries = Object.entries(events).map(([event, seconds]) => {
    const isGate = isGated && event === 'PreToolUse'
    const command = (isGate ? decidingHook : tellingHook)([...hookCommand, event])
    return { event, command, timeout: isGate ? gateSeconds : seconds }
  })
  const groups = entries.map(({ event, command, timeout }) => [
    event,
    [{ hooks: [{ type: 'command', command, timeout }] }],
  ])
  const state = entries.map(({ event, command, timeout }) => [
    `/<session-flags>/config.toml:${snake(event)}:0:0`,
    { trusted_hash: fingerprint(snake(event), command, timeout) },
  ])
  return { ...Object.fromEntries(groups), state: Object.fromEntries(state) }
}

/** The digest over the hook's canonical JSON: keys in order, nothing that is not set. */
function fingerprint(event: string, command: string, timeout: number): string {
  const identity = { event_name: event, hooks: [{ async: false, command, timeout, type: 'command' }] }
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`
}

const snake = (name: string): string => name.replaceAll(/(?<!^)[A-Z]/g, '_$&').toLowerCase()

/** A value that TOML can write on one line. */
type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml }

/** A TOML value on one line, for `-c key=value`. */
export function toml(value: Toml): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map(toml).join(',')}]`
  return `{${Object.entries(value)
    .map(([key, item]) => `${quoted(key)}=${toml(item)}`)
    .join(',')}}`
}

const isList = (value: object): value is readonly Toml[] => Array.isArray(value)

/** JSON's escapes are TOML's, but for DEL, which must be escaped, and lone surrogates, which cannot be. */
const quoted = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replaceAll('\u007f', String.raw`\u007f`)
