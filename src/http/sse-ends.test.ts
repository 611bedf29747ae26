import { describe, expect, test } from 'vitest'
import { openSse, settle } from '../../test/http/open-sse.ts'
import { sampleEvent } from '../../test/http/sample-events.ts'
import { ask, testApp } from '../../test/http/test-app.ts'
import { lastFrameOf } from '../contract/formats/sse.ts'
import { liveHub } from './live.ts'

const canonical = '/api/v1/events/stream'
const runtime = '/api/events'
const checkpoint = (n: number) =>
  sampleEvent('progress.checkpoint', { payload: { message: `m${n}` } as never })

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
      principal: { kind: 'operator', channel: 'cli' },
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

  test('[MUS-100][MUS-301] one whose context cannot be found is named as missing, and the stream goes on', async () => {
    const contextOf = ({ seq }: { seq: number }) => {
      if (seq === 2) throw new Error('index')
      return {}
    }
    const app = testApp({ contextOf })
    app.journal.append(checkpoint(1), checkpoint(2), checkpoint(3))
    const stream = await openSse(app, `${runtime}?after=0`)
    const blocks = (await stream.blocks(4)).slice(1)
    expect(blocks.map(({ id }) => id)).toEqual(['1.0', '2.0', '3.0'])
    expect([blocks[1]?.event, JSON.parse(blocks[1]?.data ?? '')]).toEqual([
      'resync',
      { reason: 'not_shown', asked: '1.0', oldest: 1, seq: lastFrameOf(2), missing: { from: 2, to: 2 } },
    ])
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
      const seen = (await stream.blocks(2)).slice(1).map(({ event }) => event)
      await stream.leave()
      return seen
    }
    expect([await ids(), await ids()]).toEqual([['resync'], ['AgentStatus']])
  })

  test('[MUS-100][MUS-301] a journal that has nothing readable up to its mark is told of, and does not spin', async () => {
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
    const missing = { reason: 'unreadable', asked: '0.0', oldest: 1, seq: 1, missing: { from: 1, to: 1 } }
    expect(await stream.chunk()).toBe(`id: 1.0\nevent: resync\ndata: ${JSON.stringify(missing)}\n\n`)
    const next = stream.chunk()
    await settle(50)
    expect(asked).toBeLessThan(5)
    empty.clock.advance(15_000)
    expect(await next).toBe(': beat\n\n')
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
