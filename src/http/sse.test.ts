import { describe, expect, test } from 'vitest'
import { openSse, settle } from '../../test/http/open-sse.ts'
import { sampleEvent, sampleRun, sampleSession } from '../../test/http/sample-events.ts'
import { ask, type TestApp, testApp } from '../../test/http/test-app.ts'
import type { TraceId } from '../contract/ids.ts'
import { shortId } from '../contract/ids.ts'
import { liveHub } from './live.ts'

const canonical = '/api/v1/events/stream'
const runtime = '/api/events'
const checkpoint = (n: number) =>
  sampleEvent('progress.checkpoint', { payload: { message: `m${n}` } as never })
const ended = () => sampleEvent('agent.completed', { payload: { agentId: 'dev' } as never })
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
    expect(blocks.map(({ data }) => JSON.parse(data ?? '').seq)).toEqual([1, 2, 2])
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
  const ids = async (app: TestApp, path: string) => {
    const stream = await openSse(app, path)
    const seen = (await stream.blocks(100).catch(() => [])).filter(({ data }) => data !== undefined)
    return seen.map(({ id }) => id)
  }
  /** Ends the stream once it has nothing more, so that all of it can be read. */
  const all = async (app: TestApp, path: string) => {
    const seen = ids(app, path)
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

describe('[MUS-105] a client that does not read', () => {
  test('[MUS-105] costs one chunk, is closed after the bound, and counts no longer', async () => {
    const app = testApp()
    const response = await ask(app, `${canonical}?after=0`)
    const reader = response.body?.getReader()
    await reader?.read()
    for (let n = 0; n < 5000; n++) app.journal.append(checkpoint(n))
    await settle()
    expect(app.journal.given()).toBe(0)
    await reader?.read()
    await settle()
    expect(app.journal.given()).toBeLessThanOrEqual(128)
    app.clock.advance(29_999)
    await settle()
    expect(app.streams.count).toBe(1)
    app.clock.advance(1)
    await settle()
    expect([app.streams.count, app.clock.sleepers()]).toEqual([0, 0])
    expect(await reader?.read()).toMatchObject({ done: true })
  })

  test('[MUS-105] is told apart from one that has nothing to read', async () => {
    const app = testApp()
    const stream = await openSse(app, canonical)
    await stream.chunk()
    for (let n = 0; n < 10; n++) {
      const next = stream.chunk()
      await settle()
      app.clock.advance(15_000)
      await settle()
      expect(await next).toBe(': beat\n\n')
    }
    expect(app.streams.count).toBe(1)
  })

  test('[MUS-105] is told apart from one that waits, also where heartbeats are rarer than the bound', async () => {
    const app = testApp({ limits: { heartbeatMs: 90_000, stallMs: 30_000, maxClients: 9 } })
    const stream = await openSse(app, canonical)
    await stream.chunk()
    const next = stream.chunk()
    await settle()
    for (let n = 0; n < 8; n++) {
      app.clock.advance(10_000)
      await settle()
    }
    expect(app.streams.count).toBe(1)
    app.journal.append(checkpoint(1))
    expect(await next).toMatch(/^id: 1\.0\n/)
  })

  test('[MUS-105] is closed too when it never read at all', async () => {
    const app = testApp()
    await ask(app, canonical)
    expect(app.streams.count).toBe(1)
    app.clock.advance(30_000)
    await settle()
    expect([app.streams.count, app.clock.sleepers()]).toEqual([0, 0])
  })
})

describe('[MUS-105] what a client is sent at once', () => {
  test('[MUS-105] is a chunk of bounded size, and no event is read twice for it', async () => {
    const app = testApp()
    const total = 300
    for (let n = 1; n <= total; n++)
      app.journal.append(
        sampleEvent('progress.checkpoint', { payload: { message: 'x'.repeat(3000) } as never }),
      )
    const stream = await openSse(app, `${canonical}?after=0`)
    const sizes: number[] = []
    for (let text = await stream.chunk(); ; text = await stream.chunk()) {
      sizes.push(text?.length ?? 0)
      if (text?.includes(`id: ${total}.0`)) break
    }
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024 + 5000)
    expect(sizes.length).toBeGreaterThan(10)
    expect(app.journal.given()).toBe(total)
    await stream.leave()
  })
})

describe('the end of a stream', () => {
  test('[MUS-105] the tokens of a client that left are kept for nobody', async () => {
    const hub = liveHub()
    let watching = 0
    const live = {
      publish: () => {},
      subscribe(wants: Parameters<typeof hub.subscribe>[0]) {
        const queue = hub.subscribe(wants)
        const close = queue.close.bind(queue)
        watching++
        queue.close = () => {
          watching--
          close()
        }
        return queue
      },
    }
    const stream = await openSse(testApp({ live }), runtime)
    expect(watching).toBe(1)
    await stream.leave()
    expect(watching).toBe(0)
  })

  test('[MUS-105] a request that was cut before its stream opened leaves none', () => {
    const app = testApp()
    app.streams.open('streamEvents', {
      input: {},
      lastEventId: undefined,
      signal: AbortSignal.abort(),
      cut: () => {},
    })
    expect(app.streams.count).toBe(0)
  })

  test('[MUS-105] a client that leaves leaves nothing behind', async () => {
    const app = testApp()
    const stream = await openSse(app, runtime)
    await stream.chunk()
    const next = stream.chunk()
    await settle()
    await stream.leave()
    await next
    await settle()
    expect([app.streams.count, app.clock.sleepers(), app.bugs]).toEqual([0, 0, []])
  })

  test('[MUS-105] a request that is cut before its first read is noticed', async () => {
    const app = testApp()
    const cut = new AbortController()
    await ask(app, canonical, { signal: cut.signal })
    cut.abort()
    await settle()
    expect([app.streams.count, app.clock.sleepers()]).toEqual([0, 0])
  })

  test('[MUS-105] more streams than allowed are refused, and a free place is given again', async () => {
    const app = testApp({ limits: { heartbeatMs: 1000, stallMs: 1000, maxClients: 2 } })
    const first = await openSse(app, canonical)
    await openSse(app, runtime)
    expect((await ask(app, canonical)).status).toBe(429)
    await first.leave()
    expect((await ask(app, canonical)).status).toBe(200)
  })

  test('[MUS-100] a journal that fails ends the stream plainly and is told once', async () => {
    const broken = testApp()
    broken.journal.append(checkpoint(1))
    const failing = testApp({ journal: { ...broken.journal, page: () => Promise.reject(new Error('disk')) } })
    const stream = await openSse(failing, `${canonical}?after=0`)
    await stream.chunk()
    expect(await stream.chunk()).toBeUndefined()
    expect(failing.bugs).toEqual([new Error('disk')])
    expect(failing.streams.count).toBe(0)
  })
})

describe('[MUS-100] an event that cannot be shown', () => {
  test('[MUS-100] an erased line keeps its place and shows nothing', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1), { tombstone: { digest: 'x' } } as never, checkpoint(3))
    for (const path of [canonical, runtime]) {
      const stream = await openSse(app, `${path}?after=0`)
      expect((await stream.blocks(3)).slice(1).map(({ id }) => id)).toEqual(['1.0', '3.0'])
      await stream.leave()
    }
    expect(app.bugs).toEqual([])
  })

  test('[MUS-100] one whose context cannot be found is told of and passed over', async () => {
    const contextOf = ({ seq }: { seq: number }) => {
      if (seq === 2) throw new Error('index')
      return {}
    }
    const app = testApp({ contextOf })
    app.journal.append(checkpoint(1), checkpoint(2), checkpoint(3))
    const stream = await openSse(app, `${runtime}?after=0`)
    expect((await stream.blocks(3)).slice(1).map(({ id }) => id)).toEqual(['1.0', '3.0'])
    expect(app.bugs).toEqual([new Error('index')])
  })

  test('[MUS-100] a look-up that failed is tried again for the next client', async () => {
    let failures = 1
    const app = testApp({
      contextOf: async () => {
        if (failures-- > 0) throw new Error('index')
        return {}
      },
    })
    app.journal.append(checkpoint(1), checkpoint(2))
    const ids = async () => {
      const stream = await openSse(app, `${runtime}?after=0`)
      const seen = (await stream.blocks(2)).slice(1).map(({ id }) => id)
      await stream.leave()
      return seen
    }
    expect([await ids(), await ids()]).toEqual([['2.0'], ['1.0']])
  })

  test('[MUS-100] a journal that has nothing readable up to its mark does not spin', async () => {
    const app = testApp()
    app.journal.append(checkpoint(1))
    let asked = 0
    const empty = testApp({
      journal: {
        ...app.journal,
        page: async () => {
          asked++
          return []
        },
      },
    })
    const stream = await openSse(empty, `${canonical}?after=0`)
    await stream.chunk()
    const next = stream.chunk()
    await settle(50)
    expect(asked).toBeLessThan(5)
    empty.clock.advance(15_000)
    expect(await next).toBe('id: 1.0\n\n')
  })

  test('[MUS-100] a line break in a line does not end its frame', async () => {
    const app = testApp()
    const [stored] = app.journal.append(checkpoint(1))
    const page = async () => [{ ...stored, line: `${stored?.line.slice(0, -1)} \r}` }]
    const odd = testApp({ journal: { ...app.journal, page: page as never } })
    const stream = await openSse(odd, `${canonical}?after=0`)
    const block = (await stream.blocks(2))[1]
    expect(JSON.parse(block?.data ?? '')).toMatchObject({ seq: 1 })
  })
})
