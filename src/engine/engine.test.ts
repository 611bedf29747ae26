import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ids, openEngine, operator, sessionDrafts } from '../../test/support/temp-engine.ts'
import { readAll, tempFolder } from '../../test/support/temp-journal.ts'
import type { By, Draft } from '../contract/event.ts'
import { fleet, type SessionId, type SpanId } from '../contract/ids.ts'
import type { BlobRef } from '../contract/values.ts'
import { endedSession } from '../core/fleet.ts'
import type { StoredEvent } from '../ports/journal.ts'

test('[MUS-80][MUS-83][MUS-91] each item is answered for itself, and a bad one does not spoil the others', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const results = await engine.propose({
    items: [
      session.started(),
      { nonsense: true },
      session.note('first'),
      { ...session.note('x'), type: 'no.such.type' },
      { ...session.note('y'), payload: { message: 'm', extra: 1 } },
      session.draft('tool.call.completed', { callId: 'c', tool: 't' }),
      session.note('second'),
    ],
    by: operator,
  })
  expect(results.map((r) => (r.status === 'rejected' ? r.code : r.status))).toEqual([
    'appended',
    'invalid',
    'appended',
    'invalid',
    'invalid',
    'conflict',
    'appended',
  ])
  expect(results[4]).toMatchObject({ message: expect.stringContaining('extra') })
  expect(await readAll(journal)).toHaveLength(3)
  await journal.close()
})

test('[MUS-8] a producer that repeats itself adds nothing, also after a restart; a new epoch starts again', async () => {
  const dir = tempFolder()
  const first = await openEngine(dir)
  const session = sessionDrafts()
  const items = [session.started(), session.note('a'), session.note('b')]
  const producer = { id: 'hook:1', epoch: 1, n: 1 }
  await first.engine.propose({ items, by: operator, producer })
  const again = await first.engine.propose({ items, by: operator, producer })
  expect(again.map((r) => r.status)).toEqual(['duplicate', 'duplicate', 'duplicate'])
  await first.journal.snapshot(first.engine.snapshot())
  await first.journal.close()

  const second = await openEngine(dir)
  const more = await second.engine.propose({
    items: [session.note('b'), session.note('c')],
    by: operator,
    producer: { id: 'hook:1', epoch: 1, n: 3 },
  })
  expect(more.map((r) => r.status)).toEqual(['duplicate', 'appended'])
  const fresh = await second.engine.propose({
    items: [session.note('d')],
    by: operator,
    producer: { id: 'hook:1', epoch: 2, n: 1 },
  })
  expect(fresh.map((r) => r.status)).toEqual(['appended'])
  const stale = await second.engine.propose({
    items: [session.note('e')],
    by: operator,
    producer: { id: 'hook:1', epoch: 1, n: 99 },
  })
  expect(stale[0]).toMatchObject({ status: 'rejected', code: 'conflict' })
  expect(await readAll(second.journal)).toHaveLength(5)
  await second.journal.close()
})

test('[MUS-205] a session reports for itself and those below it, for nobody else and not for the fleet', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const [parent, child, stranger] = [sessionDrafts(), sessionDrafts(), sessionDrafts()]
  const startChild = { ...child.started(), payload: { parentSessionId: parent.sessionId } }
  await engine.propose({ items: [parent.started(), startChild, stranger.started()], by: operator })
  const as = ({ sessionId }: { sessionId: SessionId }): By => ({
    kind: 'session',
    id: sessionId,
    via: 'report',
  })
  const results = await engine.propose({
    items: [
      parent.note('own'),
      child.note('below'),
      stranger.note('other'),
      { ...parent.note('f'), sessionId: fleet.sessionId },
    ],
    by: as(parent),
  })
  expect(results.map((r) => (r.status === 'rejected' ? r.code : r.status))).toEqual([
    'appended',
    'appended',
    'denied',
    'denied',
  ])
  const up = await engine.propose({ items: [parent.note('x')], by: as(child) })
  expect(up[0]).toMatchObject({ code: 'denied' })
  await journal.close()
})

test('[MUS-288] each line says who stands behind it, and numbers of one caller swallow nothing of another', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const [one, other] = [sessionDrafts(), sessionDrafts()]
  await engine.propose({ items: [one.started(), other.started()], by: operator })
  await engine.perform([one.draft('agent.idle', { agentId: 'a' })])
  const producer = { id: 'relay', epoch: 7, n: 1 }
  for (const { sessionId, note } of [one, other])
    expect(
      await engine.propose({
        items: [note('x')],
        by: { kind: 'session', id: sessionId, via: 'report' },
        producer,
      }),
    ).toMatchObject([{ status: 'appended' }])
  const said = (await readAll(journal)).map(({ event }) => event.by)
  expect(said).toEqual([
    operator,
    operator,
    { kind: 'daemon' },
    { kind: 'session', id: one.sessionId, via: 'report' },
    { kind: 'session', id: other.sessionId, via: 'report' },
  ])
  await journal.close()
})

test('[MUS-288] a report of tomorrow is one of now, and is not given an id by who reports it', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const yesterday = '2026-01-27T15:10:00.000Z'
  const note = (more: object) => ({ ...session.note('x'), ...more })
  await engine.perform([session.started()])
  const by: By = { kind: 'session', id: session.sessionId, via: 'report' }
  const results = await engine.propose({
    items: [note({ timestamp: tomorrow }), note({ timestamp: yesterday }), note({ id: ids.event() })],
    by,
  })
  expect(results).toMatchObject([
    { status: 'appended' },
    { status: 'appended' },
    { status: 'rejected', code: 'denied', message: expect.stringContaining('id') },
  ])
  const [, early, late] = (await readAll(journal)).map(({ event }) => event)
  expect(early?.timestamp).toBe(early?.recordedAt)
  expect(late?.timestamp).toBe(yesterday)
  // History is taken as it is.
  const record = sessionDrafts()
  const items = [record.started(), { ...record.note('x'), timestamp: tomorrow, id: ids.event() }]
  expect(await engine.propose({ items, by: { ...operator, via: 'import' } })).toMatchObject([
    { status: 'appended' },
    { status: 'appended', id: items[1]?.id },
  ])
  expect((await readAll(journal)).at(-1)?.event.timestamp).toBe(tomorrow)
  await journal.close()
})

test('[MUS-288] who reports a long text sends the text: a reference to one in the packs is refused', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const ref = { $blob: `sha256:${'0'.repeat(64)}`, bytes: 2 ** 50, pack: 1, offset: 0, preview: 'x' }
  const { preview: _preview, ...noRef } = ref
  const call = (params: Record<string, unknown>) =>
    session.draft('tool.call.started', { callId: 'c', tool: 't', params })
  await engine.perform([session.started()])
  for (const via of ['report', 'hook', 'transcript'] as const) {
    const results = await engine.propose({
      items: [session.draft('progress.checkpoint', { message: ref }), call({ a: [{ b: ref }] }), call(noRef)],
      by: { kind: 'session', id: session.sessionId, via },
    })
    expect(results, via).toMatchObject([{ code: 'denied' }, { code: 'denied' }, { status: 'appended' }])
  }
  await journal.close()
})

test('[MUS-359] spans that are reported stand apart: a report ends nothing that runs, and is in the way of nothing', async () => {
  const dir = tempFolder()
  let { engine, journal } = await openEngine(dir)
  const [parent, child] = [sessionDrafts(), sessionDrafts()]
  const begin = (of: typeof child, payload: object, more: object = {}) =>
    of.draft('session.started', payload, {
      spanId: of.sessionSpan,
      parentSpanId: undefined,
      ...more,
    } as object)
  await engine.perform([
    begin(parent, { origin: 'runtime' }),
    begin(
      child,
      { origin: 'runtime', parentSessionId: parent.sessionId },
      { traceId: parent.traceId, parentSpanId: parent.sessionSpan },
    ),
  ])
  const at = (spanId: SpanId) => ({ traceId: parent.traceId, spanId })
  const call = { callId: 'c', tool: 'Bash' }
  const tool = (type: 'started' | 'completed' | 'denied', spanId: SpanId) =>
    child.draft(
      `tool.call.${type}`,
      { ...call, ...(type === 'denied' && { gate: 'tool', reason: 'x' }) } as never,
      at(spanId),
    )
  const report = (...items: Draft[]) =>
    engine.propose({ items, by: { kind: 'session', id: parent.sessionId, via: 'report' } })
  const [running, next, told] = [ids.span(), ids.span(), ids.span()]
  await engine.perform([tool('started', running)])
  const refused = { status: 'rejected', code: 'denied' }
  expect(
    await report(tool('completed', running), tool('denied', running), tool('started', running)),
  ).toMatchObject([refused, refused, refused])
  // What hangs below the span that is named goes on when the report of it ends.
  expect(
    await report(tool('started', parent.sessionSpan), tool('completed', parent.sessionSpan)),
  ).toMatchObject([{ status: 'appended' }, { status: 'appended' }])
  expect(engine.session(child.sessionId)?.lifecycle).toBe('running')
  // It names the span in which the next agent will run, which can be known before.
  await report(tool('started', next), tool('started', told))
  expect([...(engine.session(child.sessionId)?.open.values() ?? [])].map(({ spanId }) => spanId)).toEqual([
    child.sessionSpan,
    running,
  ])
  await journal.snapshot(engine.snapshot())
  await journal.close()
  ;({ engine, journal } = await openEngine(dir))
  await engine.perform([
    tool('completed', running),
    child.draft('agent.spawned', { agentId: 'a', agentType: 'coder' }, at(next)),
    child.draft('agent.completed', { agentId: 'a' }, at(next)),
    child.draft('session.completed', { outcome: 'completed' }, at(child.sessionSpan)),
  ])
  const written = (await readAll(journal)).map(({ event }) => event).slice(-6)
  const forced = { kind: 'daemon', via: 'report' }
  expect(written.map(({ type, spanId, by }) => [type, spanId, by])).toEqual([
    ['tool.call.completed', running, { kind: 'daemon' }],
    ['tool.call.failed', next, forced],
    ['agent.spawned', next, { kind: 'daemon' }],
    ['agent.completed', next, { kind: 'daemon' }],
    ['tool.call.failed', told, forced],
    ['session.completed', child.sessionSpan, { kind: 'daemon' }],
  ])
  await journal.close()
})

test('[MUS-288] what a transcript brings counts once, also what is written as the daemon’s own, and no report stops it', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const { sessionId } = session
  const started = session.draft('session.started', { origin: 'managed' }, { spanId: session.sessionSpan })
  await engine.perform([started])
  const read = (n: number) =>
    engine.propose({
      items: [session.note(`${n}`), session.draft('session.updated', { task: `${n}` })],
      by: { kind: 'session', id: sessionId, via: 'transcript' },
      producer: { id: 'record', epoch: 1, n },
    })
  const forged = { id: 'record', epoch: 9, n: 1000 }
  await engine.propose({
    items: [session.note('x')],
    by: { kind: 'session', id: sessionId, via: 'report' },
    producer: forged,
  })
  expect(await read(1)).toMatchObject([{ status: 'appended' }, { status: 'appended' }])
  expect(await read(1)).toMatchObject([{ status: 'duplicate' }, { status: 'duplicate' }])
  expect(await read(3)).toMatchObject([{ status: 'appended' }, { status: 'appended' }])
  await journal.close()
})

test('[MUS-42][MUS-43] a text over 16 KB leaves the line, is durable before it, and equal texts share a place', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const session = sessionDrafts()
  const long = `${'é'.repeat(20_000)} end`
  const call = (callId: string) =>
    session.draft('tool.call.started', { callId, tool: 'Write', params: { content: long, path: 'a.ts' } })
  await engine.propose({ items: [session.started(), call('1'), call('2')], by: operator })
  const [, one, two] = await readAll(journal)
  const contentOf = (stored: StoredEvent | undefined) =>
    (stored as { event: { payload: unknown } }).event.payload as { params: { content: BlobRef } }
  const ref = contentOf(one).params.content
  expect(ref).toMatchObject({ bytes: Buffer.byteLength(long) })
  expect(long.startsWith(ref.preview)).toBe(true)
  expect(contentOf(two).params.content).toEqual(ref)
  expect(one?.line.length).toBeLessThan(4096)
  expect(await journal.blobs.get(ref)).toBe(long)
  await journal.close()
  expect(readFileSync(join(dir, 'blobs', '000001.pack')).length).toBe(Buffer.byteLength(long))
  const again = await openEngine(dir)
  expect(await again.journal.blobs.get(ref)).toBe(long)
  await expect(again.journal.blobs.get({ ...ref, offset: ref.offset + 1 })).rejects.toThrow(/damaged/)
  await expect(again.journal.blobs.get({ ...ref, pack: 77 })).rejects.toMatchObject({ code: 'not_found' })
  await again.journal.close()
})

test('[MUS-42] blobs of batches that wait while a segment rotates are not lost', async () => {
  const { engine, journal } = await openEngine(tempFolder(), { journal: { segmentBytes: 2000 } })
  const session = sessionDrafts()
  await engine.propose({ items: [session.started()], by: operator })
  const texts = Array.from({ length: 40 }, (_, i) => `${i} ${'x'.repeat(17_000)}`)
  await Promise.all(
    texts.map((text, i) =>
      engine.propose({
        items: [session.draft('tool.call.started', { callId: String(i), tool: 'Write', params: { text } })],
        by: operator,
      }),
    ),
  )
  const events = (await readAll(journal)).slice(1)
  for (const [i, { event }] of events.entries())
    expect(await journal.blobs.get((event.payload as { params: { text: BlobRef } }).params.text)).toBe(
      texts[i],
    )
  await journal.close()
})

test('[MUS-2][MUS-64] what redaction touched stands in the event, and the counters add up', async () => {
  const { engine, journal } = await openEngine(tempFolder(), {
    engine: {
      redact: (draft) => ({
        value: { ...draft, payload: { message: '[redacted:test]' } } as typeof draft,
        paths: ['/payload/message'],
        counts: { test: 2 },
      }),
    },
  })
  const session = sessionDrafts()
  await engine.record([session.note('secret one'), session.note('secret two')])
  const stored = await readAll(journal)
  expect(stored.map((s) => s.event.redacted)).toEqual([['/payload/message'], ['/payload/message']])
  expect(stored.some((s) => s.line.includes('secret'))).toBe(false)
  expect(engine.redactionCounts()).toEqual({ test: 4 })
  await journal.close()
})

test('[MUS-81] two contradicting proposals that arrive together cannot both succeed', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  await engine.propose({ items: [session.started()], by: operator })
  const results = await Promise.all(
    Array.from({ length: 5 }, () => engine.propose({ items: [session.completed()], by: operator })),
  )
  expect(results.flat().filter((r) => r.status === 'appended')).toHaveLength(1)
  await journal.close()
})

test('[MUS-51] a session that ended long ago is known through the index, not taken for new', async () => {
  const { engine, journal } = await openEngine(tempFolder(), {
    engine: { endedSession: async (id) => endedSession(id, 'killed') },
  })
  const session = sessionDrafts()
  const [result] = await engine.propose({ items: [session.started()], by: operator })
  expect(result).toMatchObject({ status: 'rejected', code: 'conflict' })
  const [note] = await engine.propose({ items: [session.note('x')], by: operator })
  expect(note).toMatchObject({ message: expect.stringContaining('already killed') })
  await journal.close()
})

test('[MUS-52] a fold of all events equals snapshot and tail', async () => {
  const dir = tempFolder()
  const { engine, journal } = await openEngine(dir)
  const sessions = Array.from({ length: 5 }, () => sessionDrafts())
  for (const [i, session] of sessions.entries()) {
    const items = [
      session.started(),
      session.draft('tool.call.started', { callId: 'c', tool: 't' }),
      ...(i % 2 ? [session.completed()] : []),
    ]
    await engine.propose({ items, by: operator, producer: { id: `p${i}`, epoch: 0, n: 1 } })
    if (i === 2) await journal.snapshot(engine.snapshot())
  }
  await journal.close()
  const again = await openEngine(dir)
  expect(again.engine.snapshot()).toEqual(engine.snapshot())
  expect(again.engine.openSessions()).toBe(3)
  await again.journal.close()
})

test('[MUS-3] ids sort by creation, also inside one millisecond and after the clock went back', () => {
  const made = Array.from({ length: 5000 }, () => ids.event())
  expect(made).toEqual(made.toSorted())
  expect(new Set(made).size).toBe(made.length)
})

test('[MUS-36] waiting ends with the signal', async () => {
  const { journal } = await openEngine(tempFolder())
  await expect(journal.wait(0, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  await journal.close()
})

test('[OBS-2][OBS-3][OBS-4] an event has who, what, when and where, with parent and task when there are any', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  await engine.propose({
    items: [session.started(), { ...session.note('x'), taskId: 'task-1' }],
    by: operator,
  })
  const [first, second] = (await readAll(journal)).map(
    ({ line }) => JSON.parse(line) as Record<string, unknown>,
  )
  const { sessionId, runId, traceId, sessionSpan } = session
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
  const always = {
    sessionId,
    runId,
    traceId,
    actor: 'test',
    timestamp: time,
    recordedAt: time,
    schemaVersion: '1',
    by: operator,
  }
  const id = expect.stringMatching(/^evt_/)
  expect(first).toEqual({ ...always, seq: 1, id, spanId: sessionSpan, type: 'session.started', payload: {} })
  expect(second).toEqual({
    ...always,
    seq: 2,
    id,
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    parentSpanId: sessionSpan,
    taskId: 'task-1',
    type: 'progress.checkpoint',
    payload: { message: 'x', number: 1 },
  })
  await journal.close()
})

test('[OBS-6][OBS-7] what is unknown, missing or wrong is refused by the name of its field, and a session starts once', async () => {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const good = session.note('x')
  const refusals: [field: string, item: unknown][] = [
    ['type', { ...good, type: 'no.such.type' }],
    ['surplus', { ...good, surplus: 1 }],
    ['message', { ...good, payload: {} }],
    ['message', { ...good, payload: { message: 7 } }],
    ['timestamp', { ...good, timestamp: 'yesterday' }],
    ...(['sessionId', 'runId', 'traceId', 'spanId', 'actor', 'type', 'payload'] as const).map(
      (field): [string, unknown] => [field, { ...good, [field]: undefined }],
    ),
  ]
  await engine.propose({ items: [session.started()], by: operator })
  const results = await engine.propose({ items: refusals.map(([, item]) => item), by: operator })
  for (const [i, [field]] of refusals.entries())
    expect(results[i], field).toMatchObject({
      status: 'rejected',
      code: 'invalid',
      message: expect.stringContaining(field),
    })
  const [again] = await engine.propose({ items: [session.started()], by: operator })
  expect(again).toMatchObject({ status: 'rejected', code: 'conflict' })
  expect(await readAll(journal)).toHaveLength(1)
  await journal.close()
})

test('[MUS-37] without room, ends are written and the rest is refused; what belongs together is refused whole', async () => {
  const { journal, engine } = await openEngine(tempFolder())
  const s = sessionDrafts()
  const call = { callId: 'c', tool: 't' }
  const at = { spanId: ids.span() }
  await engine.perform([s.started(), s.draft('tool.call.started', call, at)])
  vi.spyOn(journal, 'health').mockReturnValue('full')
  const both = [s.draft('tool.call.completed', call, at), s.note('x')]
  const written = async () => (await readAll(journal)).map(({ event }) => event.type)
  await expect(engine.perform(both, undefined, 'whole')).rejects.toMatchObject({ code: 'unavailable' })
  expect(await written()).toEqual(['session.started', 'tool.call.started'])
  await expect(engine.perform(both)).rejects.toMatchObject({ code: 'unavailable' })
  expect(await written()).toEqual(['session.started', 'tool.call.started', 'tool.call.completed'])
  await journal.close()
})
