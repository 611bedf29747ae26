import type { Draft } from '../contract/event.ts'
import type { SpanId } from '../contract/ids.ts'
import { statusOf } from '../contract/status-phrases.ts'
import { tokenTotal } from '../core/ledger/model-usage.ts'
import { askedBy, draftOf } from '../engine/sessions/drafts.ts'
import type { LiveRun, RunStopped } from './live-run.ts'
import type { RunOutcome } from './perform-run.ts'
import type { RuntimeParts } from './runtime-parts.ts'
import { answerOf } from './workflow-turn.ts'

/** So long a cancelled run may take to end by itself; then its end is written for it, within a second in all. */
export const stopGraceMs = 700

/** Tells a run to end; it gets its end, whatever its tools do. */
export async function stopRun(
  { clock, engine }: Pick<RuntimeParts, 'clock' | 'engine'>,
  run: LiveRun,
  why: RunStopped,
): Promise<void> {
  run.stop(why)
  const waiting = new AbortController()
  const isDone = await Promise.race([
    run.done.then(() => true),
    clock.sleep(stopGraceMs, waiting.signal).then(
      () => false,
      () => true,
    ),
  ])
  waiting.abort()
  const state = engine.session(run.root.sessionId)
  const isOpen = [...(state?.open.values() ?? [])].some(({ spanId }) => spanId === run.root.spanId)
  if (isDone || !isOpen) return
  await engine.perform(endsOf(run, { status: 'stopped', why }, clock.now()))
}

/** What is written when a run ends: its last words, that its agent does nothing any more, and exactly one end. */
export function endsOf(run: LiveRun, outcome: RunOutcome, now: number): Draft[] {
  const ends = lastOf(run, outcome, now)
  const idle = { agentId: run.agentId, ...statusOf.idle() }
  return ends.length === 0 ? [] : [draftOf(run.root, 'agent.status.changed', idle), ...ends]
}

/** The end of a turn whose run goes on: its agent does nothing any more, and what it answered. */
export function endsOfTurn(
  { root, agent, agentId, runId }: LiveRun,
  outcome: RunOutcome,
  turn: SpanId,
): Draft[] {
  const idle = draftOf(root, 'agent.status.changed', { agentId, ...statusOf.idle() })
  if (outcome.status !== 'completed') return [idle]
  const answer = draftOf(root, 'agent.message.created', {
    messageId: answerOf(runId, turn),
    from: { agentId, agentType: agent.name },
    to: { agentId: 'user', agentType: 'user' },
    text: outcome.text,
  })
  return [idle, answer]
}

function lastOf(run: LiveRun, outcome: RunOutcome, now: number): Draft[] {
  const { root, agent, agentId, parent, usage } = run
  const said = {
    agentId,
    tokens: tokenTotal(usage),
    usage,
    durationMs: Math.max(0, now - run.startedMs),
  }
  if (outcome.status === 'completed') {
    const { text, output } = outcome
    const to = parent ? parent.agent : { name: 'user', kind: 'user' }
    return [
      draftOf(root, 'agent.message.created', {
        messageId: `${root.runId}:answer`,
        from: { agentId, agentType: agent.name },
        to: { agentId: to.name, agentType: to.name },
        text,
      }),
      draftOf(root, 'agent.completed', {
        ...said,
        resultSchema: run.resultSchema,
        output: {
          type: output !== undefined ? 'task' : run.hasChanged ? 'patch' : 'none',
          text,
          packet: output,
        },
      }),
    ]
  }
  if (outcome.status === 'failed')
    return [
      draftOf(root, 'agent.failed', { ...said, reason: oneLine(outcome.reason), error: outcome.reason }),
    ]
  const { how, by, message } = outcome.why
  // The call that asked for it is over with the daemon, and nobody would take its result.
  if (how === 'daemon') return parent ? [draftOf(root, 'agent.failed', { ...said, reason: message })] : []
  return [
    draftOf(askedBy(root, by), how === 'killed' ? 'agent.killed' : 'agent.cancelled', {
      ...said,
      by: by.name,
      reason: oneLine(message),
    }),
  ]
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 1000)
