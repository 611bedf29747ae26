import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import type { SessionId } from '../../src/contract/ids.ts'
import type { Principal } from '../../src/contract/principal.ts'
import { type HttpDeps, httpApp } from '../../src/http/app.ts'
import { type Listening, type ListenOptions, listen } from '../../src/http/listen.ts'
import { liveHub } from '../../src/http/live.ts'
import { loadPage } from '../../src/http/page.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { memoryJournal } from '../support/memory-journal.ts'
import { manualClock } from './manual-clock.ts'
import { sampleEvent, sampleSession } from './sample-events.ts'
import { bearer, noApi, tokens } from './test-app.ts'

const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
}
const crlf = Buffer.from('\r\n')
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-http-'))
  cleanUps.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function serve(given: Partial<HttpDeps> = {}, options: Partial<ListenOptions> = {}) {
  const journal = memoryJournal()
  const clock = given.clock ?? realClock
  const bugs: unknown[] = []
  let listening: Listening | undefined
  const app = httpApp({
    api: noApi,
    journal,
    clock,
    live: liveHub(),
    limits: { heartbeatMs: 15_000, stallMs: 30_000, maxClients: 64 },
    address: { port: () => listening?.port ?? 0 },
    authenticate: (token) => (token === tokens.operator ? { kind: 'operator', channel: 'cli' } : undefined),
    redeem: () => undefined,
    sees: () => false,
    topOf: (id) => id,
    page: loadPage(),
    maxBodyBytes: 1024 * 1024,
    onBug: (error) => bugs.push(error),
    ...given,
  })
  const socketPath = options.socketPath ?? join(folder(), 'muster.sock')
  listening = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    socketPath,
    clock: realClock,
    onBug: (error) => bugs.push(error),
    ...options,
  })
  const server = listening
  cleanUps.push(() => server.close(0))
  return { ...app, ...server, journal, bugs, socketPath }
}

/** A raw connection that sends a request and reads nothing until told. */
async function dial(
  target: { path: string } | { port: number },
  head: readonly string[] = [],
): Promise<Socket> {
  const socket = 'path' in target ? connect(target.path) : connect(target.port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  cleanUps.push(() => socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  if (head.length > 0) socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return socket
}

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await sleep(1)
}
const headers = bearer(tokens.operator)
const proof = `authorization: ${headers.authorization}`
const checkpoint = (message: string) => sampleEvent('progress.checkpoint', { payload: { message } as never })

describe('listening', () => {
  test('[MUS-199] the socket is 0600, also under a loose umask', async () => {
    const mask = process.umask(0)
    cleanUps.push(() => process.umask(mask))
    const { socketPath } = await serve()
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    expect(process.umask()).toBe(0)
  })

  test('[MUS-200] both ways lead to the same app; only the port asks for its name', async () => {
    const { url, socketPath } = await serve()
    expect((await fetch(`${url}/api/v1/openapi.json`, { headers })).status).toBe(200)
    const status = (host: string) =>
      new Promise((resolve, reject) => {
        const call = request(
          { socketPath, path: '/api/v1/openapi.json', headers: { ...headers, host } },
          (answer) => {
            answer.resume()
            resolve(answer.statusCode)
          },
        )
        call.on('error', reject).end()
      })
    expect(await status('sm')).toBe(200)
    const evil = await fetch(`${url.replace('127.0.0.1', 'localhost')}/api/v1/openapi.json`, {
      headers: { origin: 'http://evil.example' },
    })
    expect(evil.status).toBe(403)
  })

  test('[MUS-200] a rebound name is refused on the wire, whatever its target says', async () => {
    const { port } = await serve()
    const status = async (target: string, host: string) => {
      const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', proof]
      const socket = await dial({ port }, lines)
      let text = ''
      for await (const chunk of socket) text += String(chunk)
      return text.split('\r\n')[0]
    }
    expect(await status('/api/v1/openapi.json', 'evil.example')).toContain(' 421 ')
    expect(await status(`http://127.0.0.1:${port}/api/v1/openapi.json`, 'evil.example')).toContain(' 421 ')
    expect(await status('/api/v1/openapi.json', `127.0.0.1:${port}`)).toContain(' 200 ')
  })

  test('[MUS-202] an address that others can reach is refused unless it was meant', async () => {
    for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org', '127.0.0.1.evil.example'])
      await expect(serve({}, { host }), host).rejects.toMatchObject({
        code: 'denied',
        message: expect.stringContaining('ssh -L'),
      })
    await expect(serve({}, { host: '0.0.0.0', isExposed: true })).resolves.toBeDefined()
  })

  test('[MUS-89] a port that is taken is named, and the other half is not left behind', async () => {
    const { port } = await serve()
    const socketPath = join(folder(), 'second.sock')
    await expect(serve({}, { port, socketPath })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(port)),
    })
    expect(existsSync(socketPath)).toBe(false)
  })

  test('[MUS-89] a port that is only the last one is given up when it is taken; a living daemon is not', async () => {
    const { port, socketPath: taken } = await serve()
    const moved = await serve({}, { port, mayMove: true })
    expect(moved.port).not.toBe(port)
    expect((await fetch(`${moved.url}/api/v1/health`)).headers.get('content-type')).toContain('json')
    await expect(serve({}, { port: 0, mayMove: true, socketPath: taken })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  test('[MUS-199] a socket that a killed daemon left is taken over; a living one is not', async () => {
    const left = join(folder(), 'muster.sock')
    const script = `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`
    await new Promise((resolve) => spawn(process.execPath, ['-e', script]).once('exit', resolve))
    expect(existsSync(left)).toBe(true)
    const first = await serve({}, { socketPath: left })
    await expect(serve({}, { socketPath: left })).rejects.toMatchObject({ code: 'conflict' })
    await first.close(0)
    expect(existsSync(left)).toBe(false)
  })

  test('[MUS-199] a file that is no socket is never removed', async () => {
    const path = join(folder(), 'notes.txt')
    writeFileSync(path, 'mine')
    await expect(serve({}, { socketPath: path })).rejects.toMatchObject({ code: 'conflict' })
    expect(existsSync(path)).toBe(true)
  })

  test('[MUS-199] a path that is too long for a socket is refused with what to do', async () => {
    await expect(serve({}, { socketPath: `/tmp/${'x'.repeat(120)}` })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('MUSTER_HOME'),
    })
  })

  test('[MUS-201] a body that is too large is refused while it is still being sent', async () => {
    const { url } = await serve()
    const part = Buffer.alloc(64 * 1024, ' ')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${url}/api/v1/shutdown`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
      })
      let isAnswered = false
      call.on('error', reject)
      call.on('response', (answer) => {
        isAnswered = true
        resolve(answer.statusCode)
      })
      // Goes on until it is answered: a server that waited for the end would wait for ever.
      const send = () => {
        if (!isAnswered) call.write(part, () => setImmediate(send))
      }
      send()
    })
    expect(status).toBe(413)
  })

  test.each([
    ['too large by its length', { operator: true, length: true }, 413],
    ['too large by what comes', { operator: true, length: false }, 413],
    ['from somebody unknown', { operator: false, length: true }, 401],
  ])('[MUS-286] a sender whose body is %s may send all of it, and is not cut off', async (_, how, status) => {
    const { socketPath } = await serve()
    const body = Buffer.alloc(3_000_000, ' ')
    const socket = await dial({ path: socketPath }, [
      'POST /api/v1/shutdown HTTP/1.1',
      'host: localhost',
      'connection: close',
      'content-type: application/json',
      ...(how.operator ? [`authorization: Bearer ${tokens.operator}`] : []),
      how.length ? `content-length: ${body.length}` : 'transfer-encoding: chunked',
    ])
    const failed = new Promise<never>((_resolve, reject) => socket.once('error', reject))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const send = (part: Buffer) =>
      how.length
        ? socket.write(part)
        : socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, crlf]))
    send(body.subarray(0, 1_500_000))
    // Only when the answer is there is the rest sent, as by a sender that is slow.
    const answered = new Promise((resolve) => socket.on('data', resolve))
    socket.resume()
    expect(String(await Promise.race([answered, failed]))).toContain(`HTTP/1.1 ${status}`)
    send(body.subarray(1_500_000))
    if (!how.length) socket.write('0\r\n\r\n')
    await Promise.race([closed, failed])
    expect(socket.bytesWritten).toBeGreaterThan(body.length)
  })

  test('[MUS-105] closing ends streams, lets requests finish, and cuts what does not', async () => {
    const held = Promise.withResolvers<void>()
    let reached = 0
    const api = {
      ...noApi,
      journalStats: async () => {
        reached++
        await held.promise
        return {
          segments: 1,
          bytes: 1,
          blobBytes: 0,
          oldestSeq: 1,
          seq: 1,
          snapshotSeq: 0,
          openSessions: 0,
          producers: 0,
        }
      },
      getConfig: () => {
        reached++
        return new Promise<never>(() => {})
      },
    }
    const server = await serve({ api })
    const stream = await fetch(`${server.url}/api/v1/events/stream`, { headers })
    const slow = fetch(`${server.url}/api/v1/journal`, { headers })
    const stuck = fetch(`${server.url}/api/v1/config`, { headers })
    stuck.catch(() => {})
    await until(() => server.streams.count === 1 && reached === 2)
    const closing = server.close(300)
    expect(await stream.text()).toContain('retry: 1000')
    held.resolve()
    expect((await slow).status).toBe(200)
    await expect(stuck).rejects.toThrow()
    await closing
  })
})

describe('[MUS-293] a flood', () => {
  const most = 20
  const healthy = (url: string) =>
    fetch(`${url}/api/v1/openapi.json`, { headers }).then(({ status }) => status)

  test('[MUS-293] of connections that show no token keeps nobody out who has one, and cuts none of theirs', async () => {
    const held = Promise.withResolvers<void>()
    let waiting = 0
    const api = {
      ...noApi,
      getConfig: async () => {
        waiting++
        await held.promise
        return []
      },
    }
    const { port, url } = await serve({ api }, { maxConnections: most })
    // Two that are proved: one waits for its answer, as a hook does, and one reads a stream.
    const asked = fetch(`${url}/api/v1/config`, { headers })
    const stream = await fetch(`${url}/api/v1/events/stream`, { headers })
    await until(() => waiting === 1)
    const idle = await Promise.all(Array.from({ length: 3 * most }, () => dial({ port })))
    const half = ['POST /api/v1/events HTTP/1.1', `Host: 127.0.0.1:${port}`, 'content-length: 100']
    for (let i = 0; i < 3 * most; i++) idle.push(await dial({ port }, half))
    expect(await healthy(url)).toBe(200)
    for (const socket of idle) socket.resume()
    await until(() => idle.filter(({ destroyed }) => !destroyed).length <= most)
    held.resolve()
    expect((await asked).status).toBe(200)
    await stream.body?.cancel()
  })

  test('[MUS-293] of calls by one session is refused beyond its share, and the others are answered', async () => {
    const held = Promise.withResolvers<void>()
    let waiting = 0
    const api = {
      ...noApi,
      listModels: async () => {
        waiting++
        await held.promise
        return { models: [] } as never
      },
    }
    const sessions: Record<string, Principal> = {
      [tokens.operator]: { kind: 'operator', channel: 'cli' },
      [tokens.session]: { kind: 'session', sessionId: sampleSession(1) },
      other: { kind: 'session', sessionId: sampleSession(2) },
    }
    const { url, streams } = await serve({ api, authenticate: (token) => sessions[token] })
    const own = bearer(tokens.session)
    const calls = Array.from({ length: 100 }, () => fetch(`${url}/api/models`, { headers: own }))
    await until(() => waiting === 100)
    const one = await fetch(`${url}/api/v1/openapi.json`, { headers: own })
    expect([one.status, ((await one.json()) as { code: string }).code]).toEqual([429, 'limited'])
    expect((await fetch(`${url}/api/v1/openapi.json`, { headers: bearer('other') })).status).toBe(200)
    held.resolve()
    await Promise.all(calls)
    expect((await fetch(`${url}/api/v1/openapi.json`, { headers: own })).status).toBe(200)
    // Streams: an eighth of all is one session's.
    const opened = await Promise.all(
      Array.from({ length: 9 }, () => fetch(`${url}/api/v1/events/stream`, { headers: own })),
    )
    expect(opened.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(1)
    expect((await fetch(`${url}/api/v1/events/stream`, { headers })).status).toBe(200)
    streams.endAll()
  })

  /** Sessions of one tree, and one of another. */
  const tree = (size: number) => {
    const ids = Array.from({ length: size }, (_, i) => sampleSession(i + 1))
    const other = sampleSession(100)
    const authenticate = (token: string): Principal | undefined => {
      if (token === tokens.operator) return { kind: 'operator', channel: 'cli' }
      const sessionId = [...ids, other].find((id) => id === token)
      return sessionId && { kind: 'session', sessionId }
    }
    return { ids, other, authenticate, topOf: (id: SessionId) => (id === other ? other : sampleSession(1)) }
  }

  test('[MUS-362] of streams by one tree leaves room for a person and for another tree', async () => {
    const { ids, other, authenticate, topOf } = tree(12)
    const limits = { heartbeatMs: 15_000, stallMs: 30_000, maxClients: 64 }
    const { url, streams } = await serve({ limits, authenticate, topOf })
    const open = (token: string) => fetch(`${url}/api/v1/events/stream`, { headers: bearer(token) })
    const theirs: Response[] = []
    for (const id of ids) for (let n = 0; n < 8; n++) theirs.push(await open(id))
    expect(streams.count).toBe(48)
    expect(new Set(theirs.map(({ status }) => status))).toEqual(new Set([200, 429]))
    // Fairly among them: the last one got what is a twelfth, from those that had more.
    expect(theirs.slice(-8).map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429, 429, 429])
    const persons = await Promise.all(Array.from({ length: 20 }, () => open(tokens.operator)))
    expect(persons.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(streams.count).toBe(64)
    const others = await Promise.all(Array.from({ length: 8 }, () => open(other)))
    expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(streams.count).toBe(64)
    streams.endAll()
    for (const { body } of [...theirs, ...persons, ...others]) await body?.cancel()
  })

  test('[MUS-362] of calls by one tree takes three quarters of the connections and no more', async () => {
    const { ids, other, authenticate, topOf } = tree(10)
    const held = Promise.withResolvers<void>()
    let waiting = 0
    const api = {
      ...noApi,
      async listModels() {
        waiting++
        await held.promise
        return { models: [] } as never
      },
    }
    const { url, port } = await serve({ api, authenticate, topOf }, { maxConnections: most })
    const call = (path: string, token: string) =>
      dial({ port }, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `authorization: Bearer ${token}`])
    const calls: Socket[] = []
    for (const id of [...ids, ...ids]) {
      const before = waiting
      const socket = await call('/api/models', id)
      calls.push(socket.resume())
      await until(() => socket.bytesRead > 0 || socket.destroyed || waiting > before)
    }
    expect(waiting).toBe(15)
    // A person is answered each time; another tree, too, for which the one that has most gives one up.
    for (let n = 0; n < 3; n++) expect(await healthy(url)).toBe(200)
    const [answer] = (await once((await call('/api/v1/openapi.json', other)).resume(), 'data')) as [Buffer]
    expect(String(answer)).toContain(' 200 ')
    held.resolve()
    await until(() => calls.every(({ bytesRead, destroyed }) => bytesRead > 0 || destroyed))
    expect(calls.filter(({ bytesRead }) => bytesRead > 0)).toHaveLength(19)
  })

  test.each([
    ['a deep nest', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['very many keys', `{${Array.from({ length: 300_000 }, (_, i) => `"k${i}":1`).join(',')}}`],
  ])('[MUS-293] %s in a body is refused by its size', async (_, text) => {
    const { url } = await serve({ maxBodyBytes: (64 * 1024 * 1024) / 10 })
    const body = `{"events":[{"payload":${text}}]}`
    const answer = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(413)
  })

  test('[MUS-293][MUS-315] such a body is refused as it comes in, before it is whole or parsed, and words in it are not counted', async () => {
    const { port, url } = await serve({ maxBodyBytes: (64 * 1024 * 1024) / 10 })
    const post = ['POST /api/v1/events HTTP/1.1', `Host: 127.0.0.1:${port}`, proof]
    const head = [...post, 'content-type: application/json', 'content-length: 5000000']
    for (const begun of ['{"events":['.repeat(101), `{"events":[${'1,'.repeat(300_000)}`]) {
      const socket = await dial({ port }, head)
      socket.write(begun)
      const [answer] = (await once(socket.resume(), 'data')) as [Buffer]
      expect(String(answer)).toContain(' 413 ')
    }
    const words = JSON.stringify({ events: [`${'[{,'.repeat(100_000)}\\"${'[,'.repeat(300_000)}`] })
    const answer = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: words,
    })
    expect(answer.status).not.toBe(413)
  })
})

describe('[MUS-105] a client that connects and does not read', () => {
  const big = checkpoint('x'.repeat(1000))
  const batch = Array.from({ length: 100 }, () => big)
  const total = 60_000

  test.each([
    ['the socket', 'unix', 1024 * 1024],
    // The kernel's own buffers for loopback TCP grow to several megabytes on each side.
    ['the port', 'tcp', 16 * 1024 * 1024],
  ] as const)('through %s is never buffered for, and is cut', async (_, via, bound) => {
    const clock = manualClock()
    const { journal, port, socketPath, streams, bugs } = await serve({ clock })
    const target = via === 'unix' ? { path: socketPath } : { port }
    const socket = await dial(target, [
      'GET /api/v1/events/stream?after=0 HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      proof,
    ])
    await until(() => streams.count === 1)
    for (let n = 0; n < total; n += 100) {
      journal.append(...batch)
      await new Promise((resolve) => setImmediate(resolve))
    }
    // Wait for the pump to stand still: two looks in a row that see the same.
    for (let before = -1; before !== journal.given(); await sleep(50)) before = journal.given()
    const lineBytes = (await journal.page(0, 1))[0]?.line.length ?? 0
    const pulled = (journal.given() - 1) * lineBytes
    expect(pulled).toBeGreaterThan(0)
    expect(pulled).toBeLessThan(bound)
    expect(total * lineBytes).toBeGreaterThan(2 * bound)

    const closed = new Promise((resolve) => socket.once('close', resolve))
    clock.advance(30_000)
    await until(() => streams.count === 0)
    socket.resume()
    await closed
    expect(bugs).toEqual([])
  })

  test('[MUS-105] does not hold up the others', async () => {
    const { journal, port, url, streams } = await serve()
    const lines = ['GET /api/v1/events/stream?after=0 HTTP/1.1', `Host: 127.0.0.1:${port}`, proof]
    await dial({ port }, lines)
    const reading = await fetch(`${url}/api/v1/events/stream?after=0`, { headers })
    await until(() => streams.count === 2)
    for (let n = 0; n < 200; n++) journal.append(...batch)
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of reading.body ?? []) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-4000)
      if (text.includes('id: 20000.0')) break
    }
    expect(text).toContain('id: 20000.0')
  })
})

test('[MUS-102] a real EventSource takes its cursor from a block that has only an id', async () => {
  const returned: (string | undefined)[] = []
  let sent = ''
  const server = await serve({ limits: { heartbeatMs: 20, stallMs: 30_000, maxClients: 9 } })
  // A proxy between them, because only it can see what the browser's side sends when it comes back.
  const proxy = createServer((from) => {
    const to = connect(server.port, '127.0.0.1')
    from.on('data', (data) => {
      returned.push(/last-event-id: (.*)\r/i.exec(String(data))?.[1])
      to.write(String(data).replace(/host: .*\r/i, `host: 127.0.0.1:${server.port}\r\n${proof}\r`))
    })
    to.on('data', (data) => {
      sent += String(data)
      from.write(data)
    })
    for (const socket of [from, to])
      socket
        .on('error', () => {})
        .on('close', () => {
          from.destroy()
          to.destroy()
        })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => proxy.close())
  const { port } = proxy.address() as { port: number }
  const url = `http://127.0.0.1:${port}/api/v1/events/stream?session=${sampleSession(2)}`
  const script = `setInterval(() => {}, 1000)
    new EventSource(${JSON.stringify(url)}).onmessage = () => console.log('dispatched')`
  const flags = ['--no-warnings', '--experimental-eventsource']
  const browser = spawn(process.execPath, [...flags, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanUps.push(() => browser.kill())
  let printed = ''
  browser.stdout.on('data', (data) => {
    printed += String(data)
  })
  await until(() => server.streams.count === 1)
  server.journal.append(checkpoint('not for this client'), checkpoint('nor this'))
  await until(() => sent.includes('id: 2.0\n\n'))
  server.streams.endAll()
  await until(() => returned.length === 2)
  expect(returned).toEqual([undefined, '2.0'])
  expect(printed).toBe('')
})
