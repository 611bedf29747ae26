import { join } from 'node:path'
import type { JournalOptions } from '../../src/adapters/jsonl/journal.ts'
import { Journal } from '../../src/adapters/jsonl/journal.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemIds } from '../../src/adapters/system/ids.ts'
import type { By, Draft, EventType, PayloadOf } from '../../src/contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../src/contract/ids.ts'
import { Engine, type EngineDeps } from '../../src/engine/engine.ts'
import { journalOptions } from './temp-journal.ts'

export const ids = systemIds(systemClock)
/** The daemon itself: it alone says who a session is and what it may do. */
export const daemon: By = { kind: 'daemon' }
/** A person's tool that reports events. */
export const operator: By = { kind: 'operator', id: 'api', via: 'report' }

/** Writes facts of the daemon into the journal of a home whose daemon is not running: nobody else can say them. */
export async function plant(home: string, drafts: readonly object[]): Promise<void> {
  const { engine, journal } = await openEngine(join(home, 'journal'))
  await engine.perform(drafts as Draft[])
  await journal.close()
}

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
