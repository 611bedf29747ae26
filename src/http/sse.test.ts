import { describe, expect, test } from 'vitest'
import { openSse, settle } from '../../test/http/open-sse.ts'
import { sampleEvent, sampleRun, sampleSession } from '../../test/http/sample-events.ts'
import { type AskInit, ask, bearer, type TestApp, testApp, tokens } from '../../test/http/test-app.ts'
import type { TraceId } from '../contract/ids.ts'
import { shortId } from '../contract/ids.ts'

const canonical = '/api/v1/events/stream'
const runtime = '/api/events'
const checkpoint = (n: number) =>
  sampleEvent('progress.checkpoint', { payload: { message: `m${n}` } as never })
const ended = () =>
  sampleEvent('agent.completed', { payload: { agentId: 'dev' } as never, parentRunId: sampleRun(9) })
const greeting = 'retry: 1000\n\n'

describe('[MUS-98] the two streams', () => {
  test('[MUS-98] canonical events are sent as they stand in the journal', async () => {
    const app = testApp()
    const [stored] = app.journal.append(checkpoint(1))
    const stream = await openSse(app, `${canonical}?after=0`)
    expect(await stream.chunk()).toBe(greeting)
    expect(await stream.chunk()).toBe(`id: 1.0\nevent: progress.checkpoint\ndata: ${stored?.line}\n\n`)
    await stream.leave()
  })

  test('[MUS-99][RUN-42] the runtime names number the parts of one event', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), ended())
    const stream = await openSse(app, `${runtime}?after=0`)
    const blocks = (await stream.blocks(4)).slice(1)
    expect(blocks.map(({ id, event }) => `${id} ${event}`)).toEqual([
      '1.0 AgentStatus',
      '2.0 SubagentResult',
      '2.1 Outcome',
    ])
    expect(blocks.map(({ data }) => JSON.parse(data ?? '').seq)).toEqual([8, 16, 17])
    await stream.leave()
  })

  test('[RUN-42] every client is given the same numbers, whenever it came', async () => {
    const app = testApp()
    const early = await openSse(app, `${runtime}?after=0`)
    app.journal.append(checkpoint(1), checkpoint(2))
    const late = await openSse(app, `${runtime}?after=1`)
    expect((await early.blocks(3)).slice(2)).toEqual((await late.blocks(2)).slice(1))
  })

  test('[MUS-98] the headers keep proxies and caches out of the way', async () => {
    const stream = await openSse(testApp(), canonical)
    expect(Object.fromEntries(stream.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    await stream.leave()
  })
})

test('[MUS-105] one event is serialised once for all clients, from its line', async () => {
  const app = testApp()
  app.journal.append(checkpoint(1))
  const [stored] = await app.journal.page(0, 1)
  const { canonicalProjection } = await import('./frames.ts')
  const project = () => canonicalProjection(() => true).frames(stored as never)
  expect(project()).toBe(project())
})

describe('[MUS-100] where a stream begins', () => {
  test('[MUS-100] without an id it begins now, and says where that is', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), ended())
    const stream = await openSse(app, runtime)
    expect(await stream.chunk()).toBe(`${greeting}id: 2.1\n\n`)
    app.journal.append(checkpoint(3))
    expect((await stream.blocks(1))[0]).toMatchObject({ id: '3.0' })
    expect(await (await openSse(testApp(), canonical)).chunk()).toBe(`${greeting}id: 0.0\n\n`)
  })

  test('[MUS-100] after a part the other parts are still owed', async () => {
    const app = testApp()
    app.journal.append(ended(), checkpoint(2))
    const ids = async (after: string) => {
      const stream = await openSse(app, runtime, { headers: { 'last-event-id': after } })
      app.journal.append(checkpoint(9))
      const seen: string[] = []
      while (seen.at(-1) !== `${app.journal.watermark()}.0`)
        seen.push(...(await stream.blocks(1)).filter(({ data }) => data !== undefined).map(({ id }) => id))
      await stream.leave()
      return seen.filter((id) => Number.parseInt(id) <= 2)
    }
    expect(await ids('0')).toEqual(['1.0', '1.1', '2.0'])
    expect(await ids('1.0')).toEqual(['1.1', '2.0'])
    expect(await ids('1.1')).toEqual(['2.0'])
    expect(await ids('1')).toEqual(['2.0'])
    expect(await ids('2.0')).toEqual([])
    expect(await ids('2.9')).toEqual([])
  })

  test('[MUS-100] the header of a browser wins over the query it repeats', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), checkpoint(2), checkpoint(3))
    const stream = await openSse(app, `${canonical}?after=0`, { headers: { 'last-event-id': '2.0' } })
    expect((await stream.blocks(2))[1]).toMatchObject({ id: '3.0' })
    await stream.leave()
  })

  test('[MUS-107] a malformed id is refused before anything is sent', async () => {
    const app = testApp()
    for (const headers of [{ 'last-event-id': 'x' }, { 'last-event-id': '1.' }])
      expect((await ask(app, canonical, { headers })).status).toBe(400)
    expect((await ask(app, `${canonical}?after=5`)).status).toBe(400)
    expect((await ask(app, `${runtime}?after=-1`)).status).toBe(400)
    expect(app.streams.count).toBe(0)
  })
})

describe('[MUS-101] resync', () => {
  const data = (text: string | undefined) => JSON.parse(/data: (.*)/.exec(text ?? '')?.[1] ?? '{}')

  test('[MUS-101] an id that is too old is told so, then it goes on live', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), checkpoint(2), checkpoint(3))
    app.journal.prune(3)
    const stream = await openSse(app, canonical, { headers: { 'last-event-id': '1.0' } })
    const first = await stream.chunk()
    expect(first).toMatch(/^retry: 1000\n\nid: 3\.0\nevent: resync\n/)
    expect(data(first)).toEqual({ reason: 'too_old', asked: '1.0', oldest: 3, seq: 3 })
    app.journal.append(checkpoint(4))
    expect(await stream.chunk()).toMatch(/^id: 4\.0\n/)
  })

  test('[MUS-101] so is one of another journal', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), checkpoint(2), checkpoint(3))
    const stream = await openSse(app, canonical, { headers: { 'last-event-id': '77.0' } })
    expect(data(await stream.chunk()).reason).toBe('unknown_id')
  })

  test('[MUS-101] events that are pruned before a slow client came to them are not passed over in silence', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1))
    const stream = await openSse(app, `${canonical}?after=0`)
    await stream.blocks(2)
    for (let n = 2; n <= 10; n++) app.journal.append(checkpoint(n))
    app.journal.prune(8)
    const text = await stream.chunk()
    expect(data(text)).toMatchObject({ reason: 'too_old', asked: '1.0', oldest: 8, seq: 10 })
    app.journal.append(checkpoint(11))
    expect(await stream.chunk()).toMatch(/^id: 11\.0\n/)
  })
})

describe('heartbeats', () => {
  test('[MUS-104] a quiet stream beats at its interval', async () => {
    const app = testApp()
    const stream = await openSse(app, canonical)
    await stream.chunk()
    for (let n = 0; n < 3; n++) {
      const next = stream.chunk()
      await settle()
      app.clock.advance(14_999)
      await settle()
      app.clock.advance(1)
      expect(await next).toBe(': beat\n\n')
    }
  })

  test('[MUS-102] a filtered stream moves the cursor past what it left out', async () => {
    const app = testApp()
    const stream = await openSse(app, `${runtime}?session_id=${sampleSession(2)}`)
    await stream.chunk()
    const next = stream.chunk()
    await settle()
    app.journal.append(checkpoint(1), ended())
    await settle()
    app.clock.advance(15_000)
    expect(await next).toBe('id: 2.1\n\n')
    const quiet = stream.chunk()
    await settle()
    app.clock.advance(15_000)
    expect(await quiet).toBe(': beat\n\n')
  })

  test('[MUS-102] also while events that it leaves out never cease', async () => {
    const app = testApp()
    const stream = await openSse(app, `${canonical}?type=agent.idle`)
    await stream.chunk()
    const next = stream.chunk()
    for (let n = 0; n < 20; n++) {
      app.journal.append(checkpoint(n))
      app.clock.advance(1000)
      await settle(3)
    }
    expect(await next).toMatch(/^id: 1[4-6]\.0\n\n$/)
  })
})

describe('filters', () => {
  const ids = async (app: TestApp, path: string, headers: AskInit['headers'] = {}) => {
    const stream = await openSse(app, path, { headers })
    const seen = (await stream.blocks(100).catch(() => [])).filter(({ data }) => data !== undefined)
    return seen.map(({ id }) => id)
  }
  /** Ends the stream once it has nothing more, so that all of it can be read. */
  const all = async (app: TestApp, path: string, headers: AskInit['headers'] = {}) => {
    const seen = ids(app, path, headers)
    await settle()
    app.streams.endAll()
    return seen
  }

  test('[MUS-98] by type, session, run and trace', async () => {
    const app = testApp()
    const trace = 'a'.repeat(32) as TraceId
    app.journal.append(
      checkpoint(1),
      sampleEvent('agent.idle', { sessionId: sampleSession(2) }),
      sampleEvent('agent.idle', { runId: sampleRun(2) }),
      sampleEvent('test.passed', { traceId: trace }),
    )
    const from = `${canonical}?after=0`
    expect(await all(app, from)).toEqual(['1.0', '2.0', '3.0', '4.0'])
    expect(await all(app, `${from}&type=agent.idle,test.passed`)).toEqual(['2.0', '3.0', '4.0'])
    expect(await all(app, `${from}&session=${sampleSession(2)}`)).toEqual(['2.0'])
    expect(await all(app, `${from}&session=${shortId(sampleSession(2))}`)).toEqual(['2.0'])
    expect(await all(app, `${from}&run=${sampleRun(2)}`)).toEqual(['3.0'])
    expect(await all(app, `${from}&trace=${trace}`)).toEqual(['4.0'])
    expect(await all(app, `${from}&type=agent.idle&run=${sampleRun(1)}`)).toEqual(['2.0'])
    for (const wrong of ['type=nothing', 'session=me', 'run=1', 'trace=0'])
      expect((await ask(app, `${from}&${wrong}`)).status, wrong).toBe(400)
  })

  test('[MUS-291] a session is sent what it may see, of all that happened before and of each token', async () => {
    const below = sampleSession(3)
    const app = testApp({
      // One that ended long ago has to be looked up.
      sees: (_principal, id) => (id === below ? Promise.resolve(true) : id === sampleSession(1)),
    })
    app.journal.append(
      checkpoint(1),
      sampleEvent('agent.idle', { sessionId: sampleSession(2) }),
      sampleEvent('agent.idle', { sessionId: below }),
    )
    const headers = bearer(tokens.session)
    expect(await all(app, `${canonical}?after=0`, headers)).toEqual(['1.0', '3.0'])
    expect(await all(app, `${runtime}?after=0`, headers)).toEqual(['1.0', '3.0'])
    expect(await all(app, `${canonical}?after=0&session=${sampleSession(2)}`, headers)).toEqual([])
    const stream = await openSse(app, runtime, { headers })
    await stream.chunk()
    const token = { runId: sampleRun(1), agentId: 'dev' }
    app.live.publish({ ...token, sessionId: sampleSession(2), token: 'foreign' })
    app.live.publish({ ...token, sessionId: sampleSession(1), token: 'own' })
    expect(await stream.chunk()).toMatch(/^event: Token\ndata: [^\n]*"own"[^\n]*\n\n$/)
    await stream.leave()
  })

  test('[RUN-32] by session and project, which the event itself may not know', async () => {
    const app = testApp({
      contextOf: async ({ sessionId }) => (sessionId === sampleSession(2) ? { projectRoot: '/two' } : {}),
    })
    app.journal.append(
      sampleEvent('session.started', { payload: { workingDir: '/one' } as never }),
      sampleEvent('agent.idle', { sessionId: sampleSession(2) }),
      checkpoint(3),
    )
    expect(await all(app, `${runtime}?after=0&project_root=/one`)).toEqual(['1.0'])
    expect(await all(app, `${runtime}?after=0&project_root=/two`)).toEqual(['2.0'])
    expect(await all(app, `${runtime}?after=0&session_id=${sampleSession(1)}`)).toEqual(['1.0', '3.0'])
  })
})

describe('tokens', () => {
  const token = (text: string, session = 1) => ({
    sessionId: sampleSession(session),
    runId: sampleRun(1),
    agentId: 'dev',
    token: text,
  })

  test('[MUS-103][RUN-40] tokens come between events, without an id', async () => {
    const app = testApp()
    const stream = await openSse(app, runtime)
    await stream.chunk()
    app.live.publish(token('a'))
    app.journal.append(checkpoint(1))
    const blocks = await stream.blocks(2)
    expect(blocks.map(({ event, id }) => `${event} ${id}`)).toEqual(['Token ', 'AgentStatus 1.0'])
    const waiting = stream.chunk()
    await settle()
    app.live.publish(token('b'))
    expect(await waiting).toMatch(/^event: Token\ndata: .*"token":"b"/)
  })

  test('[MUS-103] they are for their session, and never for the canonical stream', async () => {
    const app = testApp()
    const other = await openSse(app, `${runtime}?session_id=${sampleSession(2)}`)
    const events = await openSse(app, canonical)
    await Promise.all([other.chunk(), events.chunk()])
    app.live.publish(token('mine'))
    app.live.publish(token('theirs', 2))
    app.journal.append(checkpoint(1))
    const text = await other.chunk()
    expect(text).toMatch(/"token":"theirs"/)
    expect(text).not.toContain('mine')
    expect(await events.chunk()).toMatch(/^id: 1\.0\n/)
  })
})
