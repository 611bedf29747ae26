import type { Signal } from '../../../contract/signal.ts'
import { bounds, line, message } from './bounds.ts'
import type { NamedMark } from './marks.ts'
import { readScreen } from './read-screen.ts'

/** The marks that a signal of the session itself leaves. */
export function readSignal(signal: Signal): readonly NamedMark[] {
  const { at, source } = signal
  const seen = { at, source }
  switch (signal.kind) {
    case 'ready':
      return [ready(signal)]
    case 'prompt':
      return [{ name: 'prompt', mark: { ...seen, origin: signal.origin } }]
    case 'prompt-queued':
      return [{ name: 'queued', mark: seen }]
    case 'tool-start':
      return [{ name: 'tool-start', mark: { ...seen, tool: line(signal.tool), callId: line(signal.callId) } }]
    case 'tool-end':
      // A call that was cut off by a person is the end of the turn, not a step of it.
      return signal.isInterrupt
        ? [{ name: 'interrupted', mark: seen }]
        : [{ name: 'tool-end', mark: { ...seen, callId: line(signal.callId), ok: signal.ok } }]
    case 'text':
      return [{ name: 'text', mark: { ...seen, text: message(signal.text) } }]
    case 'usage':
      return [{ name: 'response', mark: { ...seen, ...finish(signal.finishReason) } }]
    case 'turn-end':
      return [
        { name: 'turn-end', mark: { ...seen, background: signal.background } },
        ...(signal.text ? [{ name: 'text', mark: { ...seen, text: message(signal.text) } } as const] : []),
      ]
    case 'turn-failed':
      return [
        {
          name: 'turn-failed',
          mark: {
            ...seen,
            error: line(signal.error),
            ...(signal.status !== undefined && { status: signal.status }),
            ...(signal.limit && {
              limit: signal.limit.resetsAtMs === undefined ? {} : { resetsAtMs: signal.limit.resetsAtMs },
            }),
          },
        },
      ]
    case 'interrupted':
    case 'idle':
      return [{ name: signal.kind, mark: seen }]
    case 'retrying':
      return [
        {
          name: 'retrying',
          mark: {
            ...seen,
            ...(signal.attempt !== undefined && { attempt: signal.attempt }),
            ...(signal.of !== undefined && { of: signal.of }),
            ...(signal.error !== undefined && { error: line(signal.error) }),
          },
        },
      ]
    case 'compacted':
      return [{ name: 'compacted', mark: { ...seen, ...(signal.trigger && { trigger: signal.trigger }) } }]
    case 'meter':
      return [
        {
          name: 'meter',
          mark: {
            ...seen,
            ...(signal.contextPercent !== undefined && { contextPercent: signal.contextPercent }),
            ...(signal.limits && { limits: signal.limits.slice(0, bounds.limits) }),
          },
        },
      ]
    case 'screen':
      return [readScreen(signal.reading, seen)]
    case 'gone':
      return [gone(signal)]
    case 'exited':
      return [
        {
          name: 'exited',
          mark: {
            ...seen,
            ...(signal.code !== undefined && { code: signal.code }),
            ...(signal.signal !== undefined && { signal: line(signal.signal) }),
          },
        },
      ]
    case 'asking':
    case 'answered':
    case 'injected':
    case 'subagent-start':
    case 'subagent-end':
      return []
  }
}

function ready({ at, source, reason, foreignId }: Extract<Signal, { kind: 'ready' }>): NamedMark {
  // After compaction the same turn goes on: this is no new beginning.
  if (reason === 'compact') return { name: 'compacted', mark: { at, source } }
  return {
    name: 'ready',
    mark: { at, source, ...(reason && { reason }), ...(foreignId && { foreignId: line(foreignId) }) },
  }
}

function gone({ at, source, reason }: Extract<Signal, { kind: 'gone' }>): NamedMark {
  const isSwitch = reason === 'clear' || reason === 'resume'
  if (isSwitch) return { name: 'switched', mark: { at, source, reason } }
  return { name: 'gone', mark: { at, source, ...(reason !== undefined && { reason: line(reason) }) } }
}

// `stop_sequence` is in neither: an interrupted and a failed response carry it as well.
const last = new Set(['end_turn', 'stop', 'end'])
const goesOn = new Set(['tool_use', 'tooluse', 'tool_calls', 'tool-calls', 'pause_turn'])

function finish(reason: string | undefined): { isLast?: boolean } {
  const word = reason?.toLowerCase() ?? ''
  return last.has(word) ? { isLast: true } : goesOn.has(word) ? { isLast: false } : {}
}
