import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { ask, noApi, testApp, tokens } from '../../test/http/test-app.ts'
import { AppError, errorCodes } from '../contract/errors.ts'
import { httpClient } from './client.ts'
import type { Sent, Transport } from './transport.ts'

const realSleep: Transport['sleep'] = (ms, signal) => sleep(ms, undefined, { signal })
const stats = {
  segments: 1,
  bytes: 2,
  blobBytes: 3,
  oldestSeq: 1,
  seq: 9,
  snapshotSeq: 0,
  openSessions: 1,
  producers: 0,
}
const servers: { close(): unknown; closeAllConnections?(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.()
    server.close()
  }
})

/** A client of the app in this process, and what it sent. */
function clientOf(api: Parameters<typeof testApp>[0], token?: string) {
  const app = testApp(api)
  const sent: (Sent & { url: string })[] = []
  const request: Transport['request'] = (url, init) => {
    sent.push({ url, ...init })
    return ask(app, url, { ...init })
  }
  return { client: httpClient({ base: '', request, sleep: realSleep, ...(token && { token }) }), sent }
}

const answering = (response: () => Response) =>
  httpClient({ base: '', request: async () => response(), sleep: realSleep })

async function on(handle: Parameters<typeof createServer>[1]): Promise<{ url: string; server: Server }> {
  const server = createServer(handle)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

test('[MUS-87] a call goes through the table there and back', async () => {
  const { client, sent } = clientOf({ api: { ...noApi, journalStats: async () => stats } })
  expect(await client.journalStats({})).toEqual(stats)
  expect(sent[0]).toMatchObject({ url: '/api/v1/journal', method: 'GET', headers: { 'muster-wire': '1' } })
})

test('[MUS-87] path, query and body are filled from one input, and hostile text stays text', async () => {
  const asked: unknown[] = []
  const { client, sent } = clientOf(
    {
      api: {
        ...noApi,
        listRuns: async (input) => {
          asked.push(input)
          return { runs: [] }
        },
        importLog: async (input) => {
          asked.push(input)
          throw new AppError('conflict', 'again')
        },
      },
    },
    tokens.operator,
  )
  await client.listRuns({ id: 'a/../b?c=d#e', limit: 5 })
  await expect(client.importLog({ document: { a: 1 } })).rejects.toMatchObject({ code: 'conflict' })
  expect(asked).toEqual([{ id: 'a/../b?c=d#e', limit: 5 }, { document: { a: 1 } }])
  expect(sent[0]?.url).toBe('/api/v1/sessions/a%2F..%2Fb%3Fc%3Dd%23e/runs?limit=5')
  expect(sent[1]).toMatchObject({
    url: '/api/v1/log',
    body: '{"document":{"a":1}}',
    headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
  })
})

test('[MUS-88] every refusal comes back as it was thrown', async () => {
  for (const code of Object.keys(errorCodes) as (keyof typeof errorCodes)[]) {
    if (code === 'internal') continue
    const health = () => Promise.reject(new AppError(code, 'do this', { details: [1] }))
    const failed = clientOf({ api: { ...noApi, health } }).client.health({})
    await expect(failed).rejects.toMatchObject({ name: 'AppError', code, message: 'do this', details: [1] })
  }
})

test('[MUS-88] a code of a newer daemon becomes the one of its status', async () => {
  const newer = (status: number) =>
    answering(() => Response.json({ code: 'sleepy', message: 'm' }, { status })).health({})
  await expect(newer(409)).rejects.toMatchObject({ code: 'conflict', message: 'm' })
  await expect(newer(418)).rejects.toMatchObject({ code: 'failed' })
})

describe('[MUS-93] another version', () => {
  test('[MUS-93] fields that are not known yet are no reason to fail', async () => {
    const newer = answering(() => Response.json({ ...stats, novelty: true }))
    expect(await newer.journalStats({})).toMatchObject(stats)
  })

  test('[MUS-93] a daemon older than what this client speaks: it says what to do', async () => {
    const older = answering(() => Response.json(stats, { headers: { 'muster-wire': '0' } }))
    await expect(older.journalStats({})).rejects.toThrow(/sm up --replace/)
  })
})

test('[MUS-88] what is not Muster is told apart', async () => {
  for (const status of [200, 404, 502])
    await expect(answering(() => new Response('<html>', { status })).health({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('not Muster'),
    })
})

describe('[MUS-88] down and slow are told apart', () => {
  const through = (base: string) => httpClient({ base, request: fetch, sleep: realSleep })

  test('[MUS-88] nobody listens: unavailable, start it', async () => {
    const { url, server } = await on(() => {})
    server.close()
    await expect(through(url).health({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('sm up'),
    })
  })

  test('[MUS-88] there is no socket: unavailable too', async () => {
    const missing = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT' })
    const client = httpClient({ base: '', request: () => Promise.reject(missing), sleep: realSleep })
    await expect(client.health({})).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('[MUS-88] it is connected and does not answer: timeout, it is slow', async () => {
    const { url } = await on(() => {})
    await expect(through(url).health({}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('slow'),
    })
  })

  test('[MUS-88] it begins an answer and does not end it: slow as well', async () => {
    const { url } = await on((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"name":')
    })
    await expect(through(url).health({}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' })
  })

  test('[MUS-88] it breaks off: unavailable, and an act says that it may have been done', async () => {
    const server = createSocket((socket) => socket.once('data', () => socket.destroy()))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = through(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await expect(client.health({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('try again'),
    })
    await expect(client.shutdown({})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('check whether it was done'),
    })
  })

  test('[MUS-88] it belongs to somebody else: denied', async () => {
    const foreign = Object.assign(new Error('connect EACCES'), { code: 'EACCES' })
    const client = httpClient({ base: '', request: () => Promise.reject(foreign), sleep: realSleep })
    await expect(client.health({})).rejects.toMatchObject({ code: 'denied' })
  })
})

test('[MUS-88] a caller’s own signal ends a call with its own reason, and nothing goes on', async () => {
  let open = 0
  const { url } = await on((_, response) => {
    open++
    response.on('close', () => open--)
  })
  const client = httpClient({ base: url, request: fetch, sleep: realSleep })
  const stop = new AbortController()
  const call = client.health({}, { signal: stop.signal })
  while (open === 0) await sleep(1)
  stop.abort(new Error('changed my mind'))
  await expect(call).rejects.toThrow('changed my mind')
  while (open > 0) await sleep(1)
  await expect(client.health({}, { signal: stop.signal })).rejects.toThrow('changed my mind')
})

test('[MUS-88] nothing of a call outlives it: neither its timer nor its request', async () => {
  const signals: AbortSignal[] = []
  const watched = (request: Transport['request']) =>
    httpClient({
      base: '',
      request: (url, sent) => {
        signals.push(sent.signal)
        return request(url, sent)
      },
      sleep: (ms, signal) => {
        signals.push(signal)
        return realSleep(ms, signal)
      },
    })
  await watched(async () => Response.json(stats)).journalStats({})
  await expect(watched(() => new Promise(() => {})).health({}, { timeoutMs: 1 })).rejects.toMatchObject({
    code: 'timeout',
  })
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true])
})
