import type { JournalOptions } from '../../src/adapters/jsonl/journal.ts'
import { Journal } from '../../src/adapters/jsonl/journal.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemIds } from '../../src/adapters/system/ids.ts'
import type { Draft, EventType, PayloadOf } from '../../src/contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../src/contract/ids.ts'
import type { Principal } from '../../src/contract/principal.ts'
import { Engine, type EngineDeps } from '../../src/engine/engine.ts'
import { journalOptions } from './temp-journal.ts'

export const ids = systemIds(systemClock)
export const operator: Principal = { kind: 'operator', channel: 'api' }

/** A journal and an engine on it, opened as the daemon does. */
export async function openEngine(
  dir: string,
  more: { journal?: Partial<JournalOptions>; engine?: Partial<EngineDeps> } = {},
) {
  const journal = await Journal.open(journalOptions(dir, more.journal))
  const engine = new Engine({
    journal,
    blobs: journal.blobs,
    clock: systemClock,
    ids,
    redact: (value) => ({ value, paths: [], counts: {} }),
    endedSession: async () => undefined,
    ...more.engine,
  })
  const cut = await journal.load(engine.replay)
  return { journal, engine, cut }
}

/** A session to report for: makes drafts with its ids. */
export function sessionDrafts(sessionId: SessionId = ids.session()) {
  const root = { sessionId, runId: ids.run() as RunId, traceId: ids.trace() as TraceId }
  const sessionSpan = ids.span()
  const draft = <T extends EventType>(type: T, payload: PayloadOf<T>, more: Partial<Draft> = {}): Draft =>
    ({
      ...root,
      spanId: ids.span() as SpanId,
      parentSpanId: sessionSpan,
      actor: 'test',
      ...more,
      type,
      payload,
    }) as Draft
  return {
    ...root,
    sessionSpan,
    draft,
    started: () => draft('session.started', {}, { spanId: sessionSpan, parentSpanId: undefined }),
    completed: () =>
      draft('session.completed', { outcome: 'completed' }, { spanId: sessionSpan, parentSpanId: undefined }),
    note: (message: string) => draft('progress.checkpoint', { message }),
  }
}
