import { told } from '../../../contract/formats/foreign-json.ts'
import type { ScreenReading, Signal, SignalOf } from '../../../contract/signal.ts'
import { withAsk, withCall, withSubagent } from './calls-and-questions.ts'
import {
  bounds,
  clippedMessage,
  type Evidence,
  type LastSightings,
  type NewSighting,
  newer,
  type Sighting,
  type SightingKind,
  type SightingOf,
  shortText,
} from './evidence.ts'

/** The evidence after one more signal. */
export function observe(evidence: Evidence, signal: Signal): Evidence {
  // A time that is none would win or lose every comparison for ever.
  if (!Number.isFinite(signal.at)) return evidence
  const { calls, asks, answers, agents } = evidence
  const isOfSubagent = signal.kind === 'subagent-start' || signal.kind === 'subagent-end' || !!signal.agent
  const isOfCall = signal.kind === 'tool-start' || signal.kind === 'tool-end'
  return {
    // Nothing that a subagent does ends or begins the session's own turn; it only shows that something works.
    last: withSightings(evidence.last, isOfSubagent ? [saw(signal, 'agent', {})] : sightingsOf(signal)),
    calls: isOfCall ? withCall(calls, signal) : calls,
    asks: signal.kind === 'asking' ? withAsk(asks, signal) : asks,
    answers: signal.kind === 'answered' ? withAsk(answers, signal) : answers,
    agents: isOfSubagent ? withSubagent(agents, signal) : agents,
  }
}

function withSightings(last: LastSightings, added: readonly NewSighting[]): LastSightings {
  if (added.length === 0) return last
  const next = { ...last } as Record<SightingKind, Sighting | undefined>
  for (const { kind, sighting } of added) next[kind] = newer(next[kind], sighting)
  return next as LastSightings
}

/** A sighting of one kind at the time of a signal; details that are undefined are left out. */
const saw = <K extends SightingKind>(
  { at, source }: Sighting,
  kind: K,
  detail: { readonly [D in keyof Omit<SightingOf<K>, keyof Sighting>]: SightingOf<K>[D] | undefined },
): NewSighting => ({ kind, sighting: { at, source, ...told(detail) } }) as NewSighting

/** What a signal of the session itself shows. */
function sightingsOf(signal: Signal): readonly NewSighting[] {
  switch (signal.kind) {
    case 'ready':
      return [ready(signal)]
    case 'prompt':
      return [saw(signal, 'prompt', { origin: signal.origin })]
    case 'prompt-queued':
      return [saw(signal, 'queued', {})]
    case 'tool-start':
      return [saw(signal, 'tool-start', { tool: shortText(signal.tool), callId: shortText(signal.callId) })]
    case 'tool-end':
      // A call that was cut off by a person is the end of the turn, not a step of it.
      return signal.isInterrupt
        ? [saw(signal, 'interrupted', {})]
        : [saw(signal, 'tool-end', { callId: shortText(signal.callId), ok: signal.ok })]
    case 'text':
      return [saw(signal, 'text', { text: clippedMessage(signal.text) })]
    case 'usage':
      return [saw(signal, 'response', { isLast: isLastResponse(signal.finishReason) })]
    case 'turn-end':
      return [
        saw(signal, 'turn-end', { background: signal.background }),
        ...(signal.text ? [saw(signal, 'text', { text: clippedMessage(signal.text) })] : []),
      ]
    case 'turn-failed': {
      const { error, status, limit } = signal
      return [
        saw(signal, 'turn-failed', {
          error: shortText(error),
          status,
          limit: limit && told({ resetsAtMs: limit.resetsAtMs }),
        }),
      ]
    }
    case 'interrupted':
    case 'idle':
      return [saw(signal, signal.kind, {})]
    case 'retrying': {
      const { attempt, of, error } = signal
      return [
        saw(signal, 'retrying', { attempt, of, error: error === undefined ? undefined : shortText(error) }),
      ]
    }
    case 'compacting':
      return [saw(signal, 'compacting', { trigger: signal.trigger })]
    case 'compacted':
      return [saw(signal, 'compacted', { trigger: signal.trigger })]
    case 'meter': {
      const { contextPercent, limits } = signal
      return [saw(signal, 'meter', { contextPercent, limits: limits?.slice(0, bounds.limits) })]
    }
    case 'screen':
      return [screen(signal)]
    case 'gone':
      return [gone(signal)]
    case 'exited':
      return [saw(signal, 'exited', { code: signal.code, signal: signal.signal && shortText(signal.signal) })]
    case 'asking':
    case 'answered':
    case 'injected':
    case 'totals':
    case 'subagent-start':
    case 'subagent-end':
      return []
  }
}

function ready(signal: SignalOf<'ready'>): NewSighting {
  const { reason, foreignId } = signal
  // After compaction the same turn continues: this is no new beginning.
  if (reason === 'compact') return saw(signal, 'compacted', { trigger: undefined })
  return saw(signal, 'ready', { reason, foreignId: foreignId ? shortText(foreignId) : undefined })
}

function gone(signal: SignalOf<'gone'>): NewSighting {
  const { reason } = signal
  if (reason === 'clear' || reason === 'resume') return saw(signal, 'switched', { reason })
  return saw(signal, 'gone', { reason: reason && shortText(reason) })
}

// `stop_sequence` is in neither: an interrupted and a failed response carry it as well.
const endsTurn = new Set(['end_turn', 'stop', 'end'])
const continuesTurn = new Set(['tool_use', 'tooluse', 'tool_calls', 'tool-calls', 'pause_turn'])

function isLastResponse(finishReason: string | undefined): boolean | undefined {
  const word = finishReason?.toLowerCase() ?? ''
  return endsTurn.has(word) ? true : continuesTurn.has(word) ? false : undefined
}

/**
 * A screen by its shape. The latest of each shape is kept, not the latest screen alone: how long it has
 * looked calm follows from when it last looked otherwise, in whatever order the readings came.
 */
function screen(signal: SignalOf<'screen'>): NewSighting {
  const { composer, dialog, isWorking, retry } = signal.reading
  const detail = screenDetail(signal.reading)
  // A menu is opened by a person and asks for nothing.
  if (dialog && dialog.kind !== 'menu')
    return saw(signal, 'screen-dialog', { ...detail, kind: dialog.kind, title: shortText(dialog.title) })
  if (isWorking || retry) return saw(signal, 'screen-working', detail)
  if (composer.state === 'none' || dialog) return saw(signal, 'screen-opaque', detail)
  return saw(signal, 'screen-calm', { ...detail, composer: composer.state })
}

const screenDetail = ({ retry, limit, error, queued }: ScreenReading) => ({
  retry: retry && told({ attempt: retry.attempt, of: retry.of }),
  limit: limit && shortText(limit.text),
  error: error === undefined ? undefined : shortText(error),
  queued,
})
