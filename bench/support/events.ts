import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemIds } from '../../src/adapters/system/ids.ts'
import type { Draft, EventType, PayloadOf } from '../../src/contract/event.ts'

export const ids = systemIds(systemClock)

const files = ['src/api/users.ts', 'src/components/Timeline.tsx', 'test/api.test.ts', 'docs/guide/start.md']

/** A session and a stream of what agents do most: tool calls, model calls, milestones; about 534 bytes a line. */
export function benchSession() {
  const root = { sessionId: ids.session(), runId: ids.run(), traceId: ids.trace() }
  const sessionSpan = ids.span()
  const draft = <T extends EventType>(type: T, payload: PayloadOf<T>, spanId = ids.span()): Draft =>
    ({ ...root, spanId, parentSpanId: sessionSpan, actor: 'agent:developer-01', type, payload }) as Draft
  let n = 0
  let call: { callId: string; tool: string; spanId: ReturnType<typeof ids.span> } | undefined
  const next = (): Draft => {
    n += 1
    if (call) {
      const { spanId, ...which } = call
      call = undefined
      return draft(
        'tool.call.completed',
        {
          ...which,
          durationMs: 12 + (n % 90),
          result: {
            display: `${n} lines read, of which ${n % 7} were changed since the last look at this file`,
          },
        },
        spanId,
      )
    }
    if (n % 7 === 0)
      return draft('progress.checkpoint', {
        message: `Phase ${n}: data model implemented, tests written and running (${n % 5}/5 tasks done)`,
      })
    call = {
      callId: `toolu_${String(n).padStart(12, '0')}`,
      tool: n % 3 ? 'Read' : 'Bash',
      spanId: ids.span(),
    }
    return draft(
      'tool.call.started',
      {
        callId: call.callId,
        tool: call.tool,
        category: 'perception',
        params: {
          file_path: files[n % files.length],
          offset: n % 400,
          limit: 200,
          description: 'look at the code around the failing assertion',
        },
      },
      call.spanId,
    )
  }
  return {
    ...root,
    started: (): Draft => ({
      ...root,
      spanId: sessionSpan,
      actor: 'bench',
      type: 'session.started',
      payload: { name: 'bench' },
    }),
    next,
    batch: (size: number): Draft[] => Array.from({ length: size }, next),
  }
}
