import fc from 'fast-check'
import { catalogue, type Draft, type EventType, eventTypes } from '../../src/contract/event.ts'

import { sampleEvent, sampleRun, sampleSession } from '../http/sample-events.ts'
import { arbitraryOf } from './schema-arbitrary.ts'

/**
 * An event of every type, with the least it must say and with more; each in a session of its own, and one that ends
 * something after what it ends. The same each time.
 */
export function everyEventDrafts(): Draft[][] {
  return eventTypes.map((type, n) => {
    const draft = (of: EventType, span: number, payload: unknown = sampleEvent(of).payload): Draft =>
      ({
        sessionId: sampleSession(n + 1),
        runId: sampleRun(n + 1),
        traceId: hex(n, 32),
        spanId: hex(span, 16),
        ...(span !== sessionSpan && { parentSpanId: hex(sessionSpan, 16) }),
        // The same words as the sample payloads have, so that ends find what they end.
        taskId: 'text',
        workflowId: 'text',
        phase: 'build',
        actor: 'architect',
        timestamp: sampleEvent(of).timestamp,
        type: of,
        payload,
      }) as Draft
    const span = catalogue[type].spanKind === 'session' ? sessionSpan : ownSpan
    // What ends must repeat facts of what began, so only points can say anything.
    const more =
      catalogue[type].span === 'point'
        ? fc.sample(arbitraryOf(catalogue[type].payload), { seed: n, numRuns: 2 })
        : []
    return [
      ...before(type).map((of) => draft(of, catalogue[of].spanKind === 'session' ? sessionSpan : ownSpan)),
      draft(type, span),
      ...more.map((payload, i) => draft(type, ownSpan + i + 1, payload)),
    ]
  })
}

const sessionSpan = 0
const ownSpan = 1
const hex = (n: number, digits: number) => (n + 1).toString(16).padStart(digits, '0')

/** What has to be there before an event of this type can be. */
function before(type: EventType): EventType[] {
  if (type === 'session.started') return []
  if (type === 'session.reopened') return ['session.started', 'session.completed']
  const kind = catalogue[type].span === 'end' ? catalogue[type].spanKind : undefined
  const opener = eventTypes.find((of) => catalogue[of].span === 'start' && catalogue[of].spanKind === kind)
  return kind === undefined || kind === 'session' || !opener
    ? ['session.started']
    : ['session.started', opener]
}
