import type { Draft } from '../../contract/event.ts'
import type { Detection } from '../../contract/events/session.ts'
import type { Asker } from '../../contract/principal.ts'
import type { Signal } from '../../contract/signal.ts'
import { isTurn } from '../../core/session/state.ts'
import { askedBy, draftOf } from './drafts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { Live } from './sessions.ts'

/** What is said of the end of a session; `detected` when a guess of it was agreed to. */
export type Said = {
  readonly message?: string | undefined
  readonly status: 'completed' | 'error' | 'abandoned'
  readonly detected?: Detection | undefined
  readonly by: Asker
}

/** The end of a session as it was said, after the end of what still ran in it. */
export function completing(watch: SessionWatch, { message, status, detected, by }: Said): Draft[] {
  const at = askedBy(watch.root, by)
  const said = { ...(message !== undefined && { message }) }
  return [
    ...closing(watch),
    status === 'error'
      ? draftOf(at, 'session.failed', { ...said, reason: 'said by the agent' })
      : draftOf(at, 'session.completed', {
          ...said,
          outcome: status,
          ...(detected && { detected }),
        }),
  ]
}

/**
 * The turn in which an agent says that it is done, and the call by which it says so, end well;
 * without this they would be ended by force with the session.
 */
function closing(watch: SessionWatch): Draft[] {
  const state = watch.state()
  const open = [...(state?.open.values() ?? [])]
  const ended = open.toReversed().flatMap((span): Draft[] => {
    const { kind: _kind, facts: _facts, ...at } = span
    const facts = span.facts as { callId?: string; tool?: string; agentId?: string }
    if (span.kind === 'tool' && facts.callId !== undefined)
      return [
        draftOf({ ...watch.root, ...at }, 'tool.call.completed', {
          callId: facts.callId,
          tool: facts.tool ?? 'unknown',
        }),
      ]
    if (span.kind === 'agent' && facts.agentId !== undefined)
      return [
        draftOf(
          { ...watch.root, ...at },
          'agent.completed',
          // Agents that it started itself are not told of by its own turn.
          state && isTurn(state, span)
            ? watch.turns.endPayload('agent.completed')
            : { agentId: facts.agentId },
        ),
      ]
    return []
  })
  return [...watch.turns.unwritten(), ...ended]
}

/** What an earlier daemon meant to do outside and left without a receipt: nobody knows what came of it, and nobody does it again. */
export async function sayUnknownEffects(watch: SessionWatch): Promise<void> {
  const left = [...(watch.state()?.open.values() ?? [])].filter(({ kind }) => kind === 'effect')
  const drafts = left.map(({ spanId, parentSpanId, facts }) =>
    draftOf({ ...watch.root, spanId, ...(parentSpanId && { parentSpanId }) }, 'effect.unknown', {
      effectId: String(facts['effectId']),
      effect: String(facts['effect']),
      reason: 'Muster was stopped before it was known',
    }),
  )
  if (drafts.length > 0) await watch.say(drafts)
}

/** How a program ended by itself. */
type Exit = {
  readonly at: number
  readonly code?: number | undefined
  readonly signal?: string | undefined
}

/** The program ended by itself: whatever it was asked to do, nobody said that it is done. */
export async function sayExited({ watch, transcript }: Live, exit: Exit): Promise<void> {
  await transcript.settled()
  const { at, code, signal: died } = exit
  const signal: Signal = {
    kind: 'exited',
    source: 'process',
    at,
    ...(code !== undefined && { code }),
    ...(died !== undefined && { signal: died }),
  }
  await watch.take([signal])
  const isOwn = watch.state()?.managed?.cli === 'custom'
  const how = died === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${died}`
  await watch.end(
    code === 0
      ? draftOf(watch.root, 'session.completed', {
          outcome: isOwn ? 'completed' : 'cancelled',
          reason: 'its program was quit (exit code 0)',
        })
      : draftOf(watch.root, 'session.failed', { reason: `its program ended: ${how}` }),
  )
}

/** Its terminal is gone, and nobody said that it is done. */
export async function sayClosed({ watch, transcript }: Live, { at, why }: { at: number; why: string }) {
  await transcript.settled()
  await watch.end(draftOf(watch.root, 'session.failed', { reason: why }))
  await watch.take([{ kind: 'exited', source: 'process', at }])
}

/** It was recorded, and the daemon ended before its start was. */
export async function sayUnmade({ watch }: Live): Promise<void> {
  await watch.end(
    draftOf(watch.root, 'session.failed', {
      reason: 'spawn failed',
      error: 'Muster was stopped while it was being started; spawn it again',
    }),
  )
}
