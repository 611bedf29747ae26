import type { Decision, GateAnswer } from '../../contract/decision.ts'
import { type Foreign, foreign, foreignText, foreignTime, told } from '../../contract/formats/foreign-json.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type { HookReply } from '../../ports/agent-cli.ts'
import { compactionOf, jsonReply, toolNamed } from '../system/hook-payload.ts'

const starts = { startup: 'startup', resume: 'resume', new: 'clear', fork: 'clear' } as const
/** Another session in the same program is no end of it; a reload is neither. */
const ends: Readonly<Record<string, string>> = { new: 'clear', fork: 'clear', resume: 'resume' }

/** What the extension tells; each payload has the time at which it was made, for some come late. */
export function piHook(payload: unknown, at: number): readonly Signal[] {
  const hook = foreign(payload)
  const seen = { source: 'hook', at: foreignTime(hook['at']) ?? at } as const
  const text = foreignText(hook['text'])
  switch (hook['event']) {
    case 'session_start':
      return hook['reason'] === 'reload' ? [] : [{ ...seen, kind: 'ready', ...readyOf(hook) }]
    case 'input':
      return hook['isQueued'] === true ? [{ ...seen, kind: 'prompt-queued', ...told({ text }) }] : []
    case 'before_agent_start':
      return [{ ...seen, kind: 'prompt', origin: 'person', ...told({ text }) }]
    case 'tool_call':
      return call(hook).map((found) => ({ ...seen, kind: 'tool-start', ...found, input: hook['input'] }))
    case 'permission_request':
      return call(hook).map((found) => ({
        ...seen,
        kind: 'asking',
        ask: 'permission',
        ...found,
        input: hook['input'],
      }))
    case 'tool_execution_end':
      return call(hook).map((found) => ({
        ...seen,
        kind: 'tool-end',
        ...found,
        ok: hook['isError'] !== true,
        ...told({ output: text, error: hook['isError'] === true ? (text ?? 'the tool failed') : undefined }),
      }))
    case 'agent_end':
      return [turnEnd(hook, seen)]
    case 'session_before_compact':
      return [{ ...seen, kind: 'compacting', ...compactionOf(hook) }]
    case 'session_compact':
      return [{ ...seen, kind: 'compacted', ...compactionOf(hook) }]
    case 'session_shutdown':
      return gone(foreignText(hook['reason']), seen)
    default:
      return []
  }
}

type Seen = { readonly source: 'hook'; readonly at: number }

function readyOf(hook: Foreign) {
  const reason = foreignText(hook['reason'])
  const isKnown = reason !== undefined && Object.hasOwn(starts, reason)
  return told({
    reason: isKnown ? starts[reason as keyof typeof starts] : undefined,
    foreignId: foreignText(hook['id']),
    transcript: foreignText(hook['file']),
    model: foreignText(hook['model']),
    cwd: foreignText(hook['cwd']),
  })
}

function call(hook: Foreign): readonly { readonly callId: string; readonly tool: string }[] {
  const [callId, tool] = [foreignText(hook['callId']), foreignText(hook['tool'])]
  return callId === undefined || tool === undefined ? [] : [{ callId, tool: piTool(tool) }]
}

function turnEnd(hook: Foreign, seen: Seen): Signal {
  if (hook['stopReason'] === 'aborted') return { ...seen, kind: 'interrupted' }
  if (hook['stopReason'] === 'error') return piFailure(foreignText(hook['error']), seen)
  return { ...seen, kind: 'turn-end', background: 0, ...told({ text: foreignText(hook['text']) }) }
}

function gone(reason: string | undefined, seen: Seen): readonly Signal[] {
  if (reason === 'reload') return []
  return [
    {
      ...seen,
      kind: 'gone',
      ...told({ reason: reason === undefined ? undefined : (ends[reason] ?? reason) }),
    },
  ]
}

/** pi asks nothing itself: the extension does. It could remember a tool as a whole only, so each answer is for once. */
export function piDecision(payload: unknown, decision: Decision): HookReply | undefined {
  if (foreign(payload)['event'] !== 'permission_request') return undefined
  if (decision.verdict === 'deny') return jsonReply(told({ allow: false, reason: decision.reason }))
  return jsonReply({ allow: true })
}

export const piGate = (_payload: unknown, gate: GateAnswer): HookReply =>
  jsonReply(gate.allowed ? { allow: true } : { allow: false, reason: gate.reason })

const additions = new Set(['before_agent_start', 'tool_result'])

/** A message can be added to a prompt or to the result of a tool. */
export const piInject = (payload: unknown, text: string): HookReply | undefined =>
  additions.has(String(foreign(payload)['event'])) ? jsonReply({ append: text }) : undefined

/** Errors after which pi tries again by itself, three times; only the screen shows when it gives up. */
const passing =
  /\b(429|50[0234]|529)\b|overloaded|rate.?limit|too many requests|unavailable|server.?error|network|connection|timed? ?out|terminated/i

/** How a request failed. The provider's status is the first word of the message. */
export function piFailure<S extends { readonly source: 'hook' | 'transcript'; readonly at: number }>(
  message: string | undefined,
  seen: S,
): S & (SignalOf<'turn-failed'> | SignalOf<'retrying'>) {
  const error = message ?? 'the request failed'
  if (passing.test(error)) return { ...seen, kind: 'retrying', error }
  const status = /^(\d{3})\b/.exec(error)?.[1]
  return {
    ...seen,
    kind: 'turn-failed',
    error,
    ...told({ status: status === undefined ? undefined : Number(status) }),
  }
}

/** pi's own tools under the names that agent files are written with; others keep theirs. */
export const piTools: Readonly<Record<string, string>> = {
  read: 'Read',
  bash: 'Bash',
  edit: 'Edit',
  write: 'Write',
  grep: 'Grep',
  find: 'Glob',
  ls: 'Glob',
}

export const piTool = (name: string): string => toolNamed(piTools, name)
