import { createHash } from 'node:crypto'
import { decidingHook, tellingHook } from '../system/hook-command.ts'
import type { Toml } from './toml.ts'

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
