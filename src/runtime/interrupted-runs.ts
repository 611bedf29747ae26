import type { Draft } from '../contract/event.ts'
import type { RunId, SessionId } from '../contract/ids.ts'
import { statusOf } from '../contract/status-phrases.ts'
import { approvalFacts, PausedTime } from '../core/approvals/open-approvals.ts'
import { hasEnded, type OpenSpan, type SessionState } from '../core/session/state.ts'
import { forcedEnding } from '../core/trace/span-endings.ts'
import type { Engine } from '../engine/engine.ts'
import { draftOf, sessionRoot } from '../engine/sessions/drafts.ts'
import type { FileChange, SeenBefore } from '../ports/tools.ts'
import type { SeenCalls } from '../ports/workers.ts'
import type { CallUse } from './live-run.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** Why a run failed that nobody went on with. */
export const stopped = 'Muster was stopped while it worked (runtime.on_restart)'
/** Why what was under way then is over. */
export const interrupted = 'Muster was stopped; whether it took effect is not known'

/** The agent of a run that is open. */
export const agentOf = ({ facts }: OpenSpan): string =>
  typeof facts['agentId'] === 'string' ? facts['agentId'] : 'agent'

/** A run that nobody goes on with has failed, all that was open below it, and so has the session at rest. */
export async function failLeft(engine: Engine, state: Readonly<SessionState>, span: OpenSpan): Promise<void> {
  const root = hasEnded(state) ? undefined : sessionRoot(state, 'muster')
  const { lifecycle: from } = state
  await engine.perform([
    ...endsBelow(state, span),
    ...failed(state, span, stopped),
    ...(root ? [draftOf(root, 'session.state.changed', { from, to: 'failed', detail: stopped })] : []),
  ])
}

/** What was under way below a run is over, before the run itself goes on. */
export async function closeCutOff(
  engine: Engine,
  state: Readonly<SessionState>,
  span: OpenSpan,
): Promise<void> {
  await engine.perform(endsBelow(state, span))
}

/** What a turn of a run left under way is over, before the turn goes on; all else that its run has open stays so. */
export async function closeLeft(
  engine: Engine,
  state: Readonly<SessionState>,
  left: readonly OpenSpan[],
): Promise<void> {
  const ends = left.toReversed().flatMap((span) => [...endsBelow(state, span), ...endOf(state, span)])
  if (ends.length > 0) await engine.perform(ends)
}

/** A session in which nothing runs is at rest, whatever it was when Muster was stopped; one that failed has failed still. */
export async function settle(engine: Engine, { sessionId }: Readonly<SessionState>): Promise<void> {
  const now = engine.session(sessionId)
  const isAtRest = now?.lifecycle === 'idle' || now?.lifecycle === 'failed'
  const root = now && !hasEnded(now) && !isAtRest ? sessionRoot(now, 'muster') : undefined
  if (root && now)
    await engine.perform([draftOf(root, 'session.state.changed', { from: now.lifecycle, to: 'idle' })])
}

/** Ends of all that is open below a span, the deepest first: what began last is never above what began before. */
function endsBelow(state: Readonly<SessionState>, top: OpenSpan): Draft[] {
  const inside = new Set([top.spanId])
  const below = [...state.open.values()].filter(({ spanId, parentSpanId }) => {
    const isBelow = parentSpanId !== undefined && inside.has(parentSpanId)
    if (isBelow) inside.add(spanId)
    return isBelow
  })
  return below.toReversed().flatMap((span) => endOf(state, span))
}

function endOf(state: Readonly<SessionState>, span: OpenSpan): Draft[] {
  const { kind, facts } = span
  if (kind === 'agent') return failed(state, span, stopped)
  if (kind === 'session') return []
  const end = forcedEnding(kind, facts, { reason: interrupted, cancelled: false })
  return [{ ...placeOf(state, span, 'muster'), ...end } as Draft]
}

function failed(state: Readonly<SessionState>, span: OpenSpan, reason: string): Draft[] {
  const agentId = agentOf(span)
  const at = placeOf(state, span, agentId)
  return [
    draftOf(at, 'agent.status.changed', { agentId, ...statusOf.idle() }),
    draftOf(at, 'agent.failed', { agentId, reason }),
  ]
}

function placeOf({ sessionId }: Readonly<SessionState>, span: OpenSpan, actor: string) {
  const { kind: _kind, facts: _facts, ...ids } = span
  return { ...ids, sessionId, actor }
}

/** What a run did before it was cut off; its limits go on counting from there. */
type SoFar = {
  readonly startedMs: number
  /** How long of the time since then it could not work: it waited for a person, or no daemon was there. */
  readonly stoodMs: number
  readonly turns: number
  readonly calls: readonly CallUse[]
  /** Calls on files of which no result is known. */
  readonly unfinished: readonly { readonly tool: string; readonly path: string }[]
  /** Files that it read and wrote. */
  readonly seenBefore: readonly SeenBefore[]
  /** What its calls did. */
  readonly seen: SeenCalls
}

const fileTools = ['Read', 'Write', 'Edit']
const types = [
  'agent.spawned',
  'llm.request.started',
  'llm.request.completed',
  'tool.call.started',
  'tool.call.completed',
  'tool.call.failed',
  'patch.created',
  'decision.made',
  ...approvalFacts,
] as const

export async function soFar(
  { events, clock }: Pick<RuntimeParts, 'events' | 'clock'>,
  sessionId: SessionId,
  runId: RunId,
): Promise<SoFar> {
  let startedMs = clock.now()
  let turns = 0
  const calls: CallUse[] = []
  const named = new Map<string, { tool: string; path: string }>()
  const seenBefore: SeenBefore[] = []
  const standstill = new PausedTime()
  const changes: FileChange[] = []
  const commands: { command: string; exitCode: number }[] = []
  const asked = new Map<string, string>()
  for await (const event of events(sessionId, types)) {
    if (event.type === 'agent.spawned' && event.runId === runId) startedMs = Date.parse(event.timestamp)
    const isOwn = event.runId === runId
    if (isOwn) standstill.take(event)
    if (event.type === 'tool.call.started' && (isOwn || event.parentRunId === runId)) {
      const { callId, tool, params } = event.payload
      const path = fileTools.includes(tool)
        ? (params as { file_path?: unknown } | undefined)?.file_path
        : undefined
      if (typeof path === 'string') named.set(callId, { tool, path })
      const { command } = (params ?? {}) as { command?: unknown }
      if (isOwn && typeof command === 'string') asked.set(callId, command)
    }
    if (event.type === 'patch.created' && isOwn) changes.push(...(event.payload.files as FileChange[]))
    if (isOwn && (event.type === 'tool.call.completed' || event.type === 'tool.call.failed')) {
      const command = asked.get(event.payload.callId)
      const exitCode = event.type === 'tool.call.completed' ? 0 : event.payload.exitCode
      if (command !== undefined && exitCode !== undefined) commands.push({ command, exitCode })
    }
    if (event.type === 'tool.call.completed') {
      const { callId } = event.payload
      const call = named.get(callId)
      if (call && isOwn) seenBefore.push({ path: call.path, atMs: Date.parse(event.timestamp) })
      named.delete(callId)
    }
    if (event.type !== 'llm.request.completed') continue
    if (event.runId === runId && event.payload.vault !== undefined) turns += 1
    if (event.runId === runId || event.parentRunId === runId) calls.push(event.payload)
  }
  const stoodMs = standstill.ms(clock.now(), { isAway: true })
  const seen = { changes, commands }
  return { startedMs, stoodMs, turns, calls, seenBefore, seen, unfinished: [...named.values()] }
}

type Place = { readonly sessionId: SessionId; readonly runId: RunId; readonly workspace: string }

/** What a run did before it was cut off, when its calls that were under way have been tidied up. */
export async function tidyCutOff(parts: RuntimeParts, place: Place): Promise<SoFar> {
  const done = await soFar(parts, place.sessionId, place.runId)
  for (const { tool, path } of done.unfinished) {
    const known = parts.tools.find(({ name }) => name === tool)
    // What cannot be tidied up does not keep a run from its end.
    await known?.tidy?.(path, place.workspace).catch(() => {})
  }
  return done
}
