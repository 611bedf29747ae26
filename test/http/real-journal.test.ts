import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { httpClient } from '../../src/client/client.ts'
import { httpApp } from '../../src/http/app.ts'
import { type Listening, listen } from '../../src/http/listen.ts'
import { liveHub } from '../../src/http/live.ts'
import { loadPage } from '../../src/http/page.ts'
import { batchOf, openJournal, tempFolder } from '../support/temp-journal.ts'
import { noApi } from './test-app.ts'

test('[MUS-100] over real sockets and files, cut again and again while events are appended, each frame comes once', async () => {
  const folder = tempFolder()
  const { journal } = await openJournal(join(folder, 'journal'))
  onTestFinished(() => journal.close())
  let listening: Listening | undefined
  const app = httpApp({
    api: noApi,
    journal,
    clock: systemClock,
    live: liveHub(),
    limits: { heartbeatMs: 1000, stallMs: 30_000, maxClients: 64 },
    address: { port: () => listening?.port ?? 0 },
    authenticate: () => ({ kind: 'operator', channel: 'cli' }),
    sees: () => false,
    topOf: (id) => id,
    redeem: () => undefined,
    page: loadPage(),
    maxBodyBytes: 1000,
    onBug: (error) => {
      throw error
    },
  })
  const onBug = () => {}
  listening = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock, onBug })
  const server = listening
  onTestFinished(() => server.close(0))

  // Waiting is cut short, so that the client comes back at once.
  const sleep = (ms: number, signal: AbortSignal) =>
    systemClock.sleep(Math.min(ms, ms > 10_000 ? ms : 1), signal)
  const client = httpClient({ base: server.url, request: fetch, sleep, token: 'any' })
  const total = 3000
  const appending = (async () => {
    for (let n = 0; n < total; n += 10) {
      const lines = Array.from({ length: 10 }, (_, i) => `event ${n + i} ${'ü'.repeat((n * 7) % 300)}`)
      await journal.append(batchOf(journal, lines))
    }
  })()
  const stop = new AbortController()
  const seen: string[] = []
  let cuts = 0
  for await (const { id, data } of client.streamEvents({ after: '0' }, { signal: stop.signal })) {
    // Acknowledged or not, what is sent is what a reader of the files would find.
    expect((data as { seq: number }).seq).toBeLessThanOrEqual(journal.watermark())
    if (seen.push(id) === total) break
    if (seen.length % 97 === 0) {
      cuts++
      app.streams.endAll()
    }
  }
  await appending
  expect(seen).toEqual(Array.from({ length: total }, (_, i) => `${i + 1}.0`))
  expect(cuts).toBeGreaterThan(20)
})
