import { expect, test } from 'vitest'
import { ask, bearer, noApi, port, testApp, tokens } from '../../test/http/test-app.ts'
import type { Health } from '../contract/health.ts'

const health: Health = {
  name: 'muster',
  version: '0.1.0',
  wire: { current: 1, oldest: 1 },
  pid: 1,
  startedAt: '2026-01-27T10:00:00.000Z',
  home: '/h',
  url: 'http://127.0.0.1:4100',
  seq: 3,
  journal: 'ok',
}

test('[MUS-88] a handler gets its checked input and who is asking, and its answer is sent', async () => {
  const asked: unknown[] = []
  const app = testApp({
    api: {
      ...noApi,
      listEvents: async (input, { principal }) => {
        asked.push(input, principal)
        return { events: [], oldest: 1, seq: 9 }
      },
    },
  })
  const response = await ask(app, '/api/v1/events?after=5&limit=10&session=1749a2fe', {
    headers: bearer(tokens.session),
  })
  expect(await response.json()).toEqual({ events: [], oldest: 1, seq: 9 })
  expect(asked).toEqual([
    { after: 5, limit: 10, session: '1749a2fe' },
    { kind: 'session', sessionId: expect.stringMatching(/^ses_/) },
  ])
})

test('[MUS-90] what does not fit is refused with every place', async () => {
  const app = testApp()
  const refused = async (path: string) =>
    (await (await ask(app, path)).json()) as { code: string; details: { path: string }[] }
  const wrong = await refused('/api/v1/events?limit=0&after=-1&type=tool.call.started,nonsense')
  expect(wrong.code).toBe('invalid')
  expect(wrong.details.map(({ path }) => path).sort()).toEqual(['after', 'limit', 'type'])
  for (const limit of ['1001', 'many', '1.5', ''])
    expect((await ask(app, `/api/v1/events?limit=${limit}`)).status).toBe(400)
  expect(await refused('/api/v1/events?limit=1&limit=2')).toMatchObject({
    message: 'limit: given 2 times; give it once',
  })
  expect(await refused('/api/v1/events?__proto__=1')).toMatchObject({ code: 'invalid' })
})

test('[MUS-90] a body that is not UTF-8 is refused', async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array([0x7b, 0xff, 0x7d]))
      controller.close()
    },
  })
  const headers = { ...bearer(tokens.operator), 'content-type': 'application/json' }
  const response = await ask(testApp(), '/api/v1/shutdown', { method: 'POST', headers, body, duplex: 'half' })
  expect([response.status, await response.json()]).toEqual([
    400,
    { code: 'invalid', message: 'the body is not valid UTF-8' },
  ])
})

test('[MUS-90] an act without input may have no body at all', async () => {
  const app = testApp({
    api: { ...noApi, shutdown: async () => ({ stopping: true as const, killed: 0, suspects: [] }) },
  })
  const headers = { ...bearer(tokens.operator), 'content-type': 'application/json' }
  expect(await (await ask(app, '/api/v1/shutdown', { method: 'POST', headers })).json()).toEqual({
    stopping: true,
    killed: 0,
    suspects: [],
  })
})

test('[MUS-90] an unknown path is 404 and says where to look', async () => {
  for (const path of [
    '/api/v1/nothing',
    '/nothing',
    '/api/v1/events/',
    '/api/v1/sessions/a/b/c',
    '/page/../app.ts',
    '/page/%2e%2e/app.ts',
  ])
    expect(await (await ask(testApp(), path)).json(), path).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('/api/v1/openapi.json'),
    })
})

test('[MUS-89] a bug is told once, and its cause stays inside', async () => {
  const bug = new Error('secret path /home/me')
  const app = testApp({ api: { ...noApi, health: () => Promise.reject(bug) } })
  const response = await ask(app, '/api/v1/health')
  expect(response.status).toBe(500)
  const text = await response.text()
  expect(JSON.parse(text)).toMatchObject({ code: 'internal' })
  expect(text).not.toContain('secret')
  expect(app.bugs).toEqual([bug])
})

test('[MUS-87] an answer that breaks the contract is a bug, not an answer', async () => {
  const app = testApp({ api: { ...noApi, health: async () => ({ ...health, seq: -1 }) } })
  expect((await ask(app, '/api/v1/health')).status).toBe(500)
  expect(app.bugs).toHaveLength(1)
})

test('[MUS-89] a client that left is nobody’s bug', async () => {
  const leaving = new AbortController()
  const app = testApp({
    api: {
      ...noApi,
      health: async (_, { signal }) => {
        leaving.abort()
        signal.throwIfAborted()
        return health
      },
    },
  })
  await ask(app, '/api/v1/health', { signal: leaving.signal })
  expect(app.bugs).toEqual([])
})

test('[MUS-90] HEAD answers like GET without a body, and opens no stream', async () => {
  const app = testApp({ api: { ...noApi, health: async () => health } })
  const head = await ask(app, '/api/v1/health', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const stream = await ask(app, '/api/v1/events/stream', { method: 'HEAD' })
  expect(stream.headers.get('content-type')).toContain('text/event-stream')
  expect(app.streams.count).toBe(0)
  expect((await ask(app, '/api/v1/events/stream?after=x', { method: 'HEAD' })).status).toBe(400)
})

test('[MUS-204] a login link works once and leaves a cookie that scripts and other sites cannot use', async () => {
  const app = testApp({ api: { ...noApi, createLoginLink: async () => ({ url: 'u' }) } })
  const first = await ask(app, '/login?code=good-code')
  expect([first.status, first.headers.get('location')]).toEqual([303, '/'])
  const cookie = first.headers.get('set-cookie') ?? ''
  expect(cookie).toBe(`muster_session=${tokens.browser}; Path=/; HttpOnly; SameSite=Strict`)
  expect(first.headers.get('cache-control')).toBe('no-store')
  expect(first.headers.get('referrer-policy')).toBe('no-referrer')

  const again = await ask(app, '/login?code=good-code')
  expect([again.status, again.headers.get('set-cookie')]).toEqual([401, null])
  expect(await again.text()).toContain('sm open')
  expect((await ask(app, '/login')).status).toBe(401)

  const act = {
    method: 'POST',
    body: '{}',
    headers: { cookie, origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' },
  }
  expect((await ask(app, '/api/v1/login-links', act)).status).toBe(200)
})

test('[MUS-204] looking ahead does not use the link up, and an old cookie does not stop it', async () => {
  const app = testApp()
  expect((await ask(app, '/login?code=good-code', { method: 'HEAD' })).status).toBe(405)
  expect((await ask(app, '/login?code=good-code', { headers: { 'sec-purpose': 'prefetch' } })).status).toBe(
    405,
  )
  expect(
    (await ask(app, '/login?code=good-code', { headers: { cookie: 'muster_session=old' } })).status,
  ).toBe(303)
})

test('[MUS-204] a token that would break the cookie header is not sent', async () => {
  const app = testApp({ redeem: () => 'a; Domain=evil' })
  const response = await ask(app, '/login?code=x')
  expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null])
})

test('[MUS-90] a workflow that is called as the last word of a route is found by its name', async () => {
  const app = testApp({ onBug: () => {} })
  expect(await (await ask(app, '/api/v1/workflows/crew')).text()).toContain('reached getWorkflow')
  expect((await ask(app, '/api/v1/workflows/crew', { method: 'PUT' })).headers.get('allow')).toBe(
    'POST, GET, HEAD, OPTIONS',
  )
})
