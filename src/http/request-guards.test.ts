import { describe, expect, test } from 'vitest'
import {
  type AskInit,
  bearer,
  noApi,
  origin,
  port,
  ask as send,
  testApp,
  tokens,
} from '../../test/http/test-app.ts'
import { fittingRequest } from '../../test/support/fitting-request.ts'
import { errorCodes } from '../contract/errors.ts'
import { routeEntries } from '../contract/routes.ts'

const app = testApp({ limits: { heartbeatMs: 15_000, stallMs: 30_000, maxClients: 1000 } })
const host = `127.0.0.1:${port}`
const json = { 'content-type': 'application/json' }

const table = routeEntries.map(([name, route]) => ({
  name,
  route,
  ...fittingRequest(route),
  isPost: route.method === 'post',
}))
const posts = table.filter(({ isPost }) => isPost)

/** Asks for a route as its table row wants it, changed by what the test is about. */
async function ask({ path, body: fitting, isPost }: (typeof table)[number], change: AskInit = {}) {
  const body = JSON.stringify(fitting)
  const usual: AskInit = isPost ? { method: 'POST', body } : {}
  const response = await send(app, path, {
    ...usual,
    ...change,
    headers: { authorization: undefined, ...(isPost && json), ...change.headers },
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) await response.body?.cancel()
  const answer = isStream ? undefined : ((await response.json()) as { code?: string; message?: string })
  return { status: response.status, code: answer?.code, message: answer?.message, headers: response.headers }
}

/** The request passed every guard: it reached its handler, a stream, or the description. */
const passed = {
  test: ({ status, message }: { status: number; message: string | undefined }) =>
    status === 200 || (status === 500 && message?.startsWith('reached ')),
}
const isPassed = (answer: { status: number; message: string | undefined }) => Boolean(passed.test(answer))

describe.each(table)('$name', (row) => {
  const { route } = row
  const allowed = route.access === 'open' ? {} : bearer(tokens.operator)

  test('[MUS-200] a foreign Host is misdirected, loopback names with our port are not', async () => {
    const foreign = [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      `127.0.0.1.evil:${port}`,
      `user@127.0.0.1:${port}`,
    ]
    for (const name of foreign)
      expect(await ask(row, { headers: { ...allowed, host: name } }), name).toMatchObject({
        status: 421,
        code: 'misdirected',
      })
    expect(await ask(row, { headers: { ...allowed, host: undefined } })).toMatchObject({ status: 421 })
    for (const name of [host, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      expect(isPassed(await ask(row, { headers: { ...allowed, host: name } })), name).toBe(true)
  })

  test('[MUS-200] a foreign Origin is denied, our own is not', async () => {
    const foreign = [
      'https://evil.example',
      'null',
      'http://127.0.0.1:1',
      `http://localhost:${port}`,
      `http://${host}.evil`,
    ]
    for (const from of foreign)
      expect(await ask(row, { headers: { ...allowed, origin: from } }), from).toMatchObject({
        status: 403,
        code: 'denied',
      })
    expect(isPassed(await ask(row, { headers: { ...allowed, origin } }))).toBe(true)
  })

  test('[MUS-200] what a page of another site loads is denied', async () => {
    for (const site of ['cross-site', 'same-site'])
      expect(await ask(row, { headers: { ...allowed, 'sec-fetch-site': site } })).toMatchObject({
        status: 403,
      })
    expect(isPassed(await ask(row, { headers: { ...allowed, 'sec-fetch-site': 'same-origin' } }))).toBe(true)
  })

  test('[MUS-203] a token that is not known is refused, also for reading', async () => {
    const unknown: Record<string, string>[] = [
      bearer('guess'),
      bearer('x'.repeat(5000)),
      { authorization: 'Basic b3BlcmF0b3I=' },
      { authorization: 'Bearer' },
      { cookie: 'a=1; muster_session=guess' },
      { cookie: 'muster_session=' },
      { ...bearer('guess'), cookie: `muster_session=${tokens.browser}` },
    ]
    for (const headers of unknown)
      expect(await ask(row, { headers: { ...headers, origin } }), JSON.stringify(headers)).toMatchObject({
        status: 401,
        code: 'unauthenticated',
      })
  })

  test('[MUS-203] a cookie that is not known is taken back', async () => {
    const { headers } = await ask(row, { headers: { cookie: 'muster_session=old', origin } })
    expect(headers.get('set-cookie')).toMatch(/^muster_session=; .*Max-Age=0/)
  })

  test('[MUS-203] without a token only what is open passes', async () => {
    const answer = await ask(row)
    if (route.access === 'open') expect(isPassed(answer)).toBe(true)
    else expect(answer).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test("[MUS-203] a session's capability does not operate", async () => {
    const answer = await ask(row, { headers: bearer(tokens.session) })
    if (route.access === 'operate') expect(answer).toMatchObject({ status: 403, code: 'denied' })
    else expect(isPassed(answer)).toBe(true)
  })

  test('[MUS-203] the operator passes, by token and by cookie', async () => {
    expect(isPassed(await ask(row, { headers: bearer(tokens.operator) }))).toBe(true)
    expect(
      isPassed(await ask(row, { headers: { cookie: `x=y; muster_session=${tokens.browser}`, origin } })),
    ).toBe(true)
  })

  test('[MUS-200] an act by cookie needs an Origin', async () => {
    const answer = await ask(row, { headers: { cookie: `muster_session=${tokens.browser}` } })
    if (row.isPost) expect(answer).toMatchObject({ status: 403, code: 'denied' })
    else expect(isPassed(answer)).toBe(true)
  })

  test('[MUS-93] another wire version is refused and says which side is old', async () => {
    const wire = (version: string) => ask(row, { headers: { ...allowed, 'muster-wire': version } })
    expect(await wire('0')).toMatchObject({
      status: 400,
      code: 'invalid',
      message: expect.stringContaining('upgrade the caller'),
    })
    expect(await wire('99')).toMatchObject({
      status: 400,
      message: expect.stringContaining('upgrade the daemon'),
    })
    expect(await wire('one')).toMatchObject({ status: 400, code: 'invalid' })
    expect(isPassed(await wire('1'))).toBe(true)
  })

  test('[MUS-93] every answer carries the wire version and may not be kept or framed', async () => {
    for (const headers of [allowed, { host: 'evil.example' }]) {
      const answer = await ask(row, { headers })
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'muster-wire': '1',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('[MUS-90] a parameter that is not in the contract is refused by name', async () => {
    // What a hook reports is in its CLI's own words, of which none is ours to refuse.
    if (row.name === 'receiveHook') return
    const extra = row.isPost
      ? await ask(row, {
          headers: allowed,
          body: JSON.stringify({ ...row.body, surplus: 1 }),
        })
      : await send(app, `${row.path}${row.path.includes('?') ? '&' : '?'}surplus=1`, {
          headers: allowed,
        }).then(async (r) => ({
          status: r.status,
          ...((await r.json()) as { code: string; message: string }),
        }))
    expect(extra).toMatchObject({ status: 400, code: 'invalid', message: expect.stringContaining('surplus') })
  })

  test('[MUS-90] another method is 405 and says what is allowed', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const answer = await ask(row, { method, headers: bearer(tokens.operator) })
      expect(answer).toMatchObject({ status: 405, code: 'method_not_allowed' })
      expect(answer.headers.get('allow')).toContain(row.isPost ? 'POST' : 'GET, HEAD')
    }
  })

  test('[MUS-90] OPTIONS answers what is allowed and opens nothing to other origins', async () => {
    const response = await send(app, row.path, { method: 'OPTIONS' })
    expect([response.status, response.headers.get('allow')]).toEqual([
      204,
      expect.stringContaining('OPTIONS'),
    ])
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(
      (await send(app, row.path, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } })).status,
    ).toBe(403)
  })

  test('[MUS-200] on the socket the Host does not matter, tokens and origins do', async () => {
    const name = 'anything.example'
    expect(isPassed(await ask(row, { via: 'unix', headers: { ...allowed, host: name } }))).toBe(true)
    expect(await ask(row, { via: 'unix', headers: { ...bearer('guess'), host: name } })).toMatchObject({
      status: 401,
    })
    expect(
      await ask(row, { via: 'unix', headers: { ...allowed, origin: 'https://evil.example' } }),
    ).toMatchObject({ status: 403 })
    expect(
      isPassed(await ask(row, { via: 'unix', headers: { ...allowed, host: 'localhost', origin } })),
    ).toBe(true)
  })
})

describe.each(posts)('the body of $name', (row) => {
  const headers = bearer(tokens.operator)
  const limit = row.route.maxBodyBytes ?? 100_000

  test('[MUS-201] must be application/json', async () => {
    for (const type of [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'multipart/form-data',
    ])
      expect(await ask(row, { headers: { ...headers, 'content-type': type } }), type).toMatchObject({
        status: 415,
        code: 'unsupported_media',
      })
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON'])
      expect(isPassed(await ask(row, { headers: { ...headers, 'content-type': type } })), type).toBe(true)
  })

  test('[MUS-201] over the limit is refused by its declared length, unread', async () => {
    const answer = await ask(row, { headers: { ...headers, 'content-length': String(limit + 1) } })
    expect(answer).toMatchObject({ status: 413, code: 'too_large' })
  })

  test('[MUS-201] over the limit is refused while it comes, whatever its length says', async () => {
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(64 * 1024).fill(32))
      },
    })
    const answer = await ask(row, {
      headers: { ...headers, 'content-length': '2' },
      body: endless,
      duplex: 'half',
    })
    expect(answer).toMatchObject({ status: 413, code: 'too_large' })
    expect(pulled).toBeLessThanOrEqual(Math.ceil(limit / (64 * 1024)) + 2)
  })

  test('[MUS-90] that is no JSON is refused with the place', async () => {
    const answer = await ask(row, { headers, body: '{"a": 1,\n "b": }' })
    expect(answer).toMatchObject({
      status: 400,
      code: 'invalid',
      message: expect.stringContaining('line 2, column 7'),
    })
    expect(await ask(row, { headers, body: '[]' })).toMatchObject({ status: 400, code: 'invalid' })
    expect(await ask(row, { headers, body: 'null' })).toMatchObject({ status: 400, code: 'invalid' })
  })
})

test('[MUS-88] each refusal of a handler has the status of its code', async () => {
  for (const code of Object.keys(errorCodes) as (keyof typeof errorCodes)[]) {
    if (code === 'internal') continue
    const { AppError } = await import('../contract/errors.ts')
    const health = async () => {
      throw new AppError(code, 'do this next', { details: { rule: 7 } })
    }
    const refusing = testApp({ api: { ...noApi, health } })
    const response = await send(refusing, '/api/v1/health')
    expect(response.status).toBe(errorCodes[code].http)
    expect(await response.json()).toEqual({ code, message: 'do this next', details: { rule: 7 } })
    expect(refusing.bugs).toEqual([])
  }
})

test('[MUS-200] a configured host is ours, with its own origin', async () => {
  const named = testApp({ address: { port: () => port, hosts: ['muster.example'] } })
  const at = (headers: Record<string, string>) =>
    send(named, '/api/v1/openapi.json', { headers }).then((r) => r.status)
  expect(await at({ host: 'muster.example', origin: 'https://muster.example' })).toBe(200)
  expect(await at({ host, origin: 'https://muster.example' })).toBe(403)
})

test('[MUS-203] a token of any length costs nothing to refuse', async () => {
  const compared: string[] = []
  const counting = testApp({
    authenticate: (token) => {
      compared.push(token)
      return undefined
    },
  })
  expect((await send(counting, '/api/v1/openapi.json', { headers: bearer('x'.repeat(513)) })).status).toBe(
    401,
  )
  expect(compared).toEqual([])
})

test('[MUS-293] an agent hears late that its body was too large, so that it floods nobody; a person hears it at once', async () => {
  const [row] = posts.filter(({ route }) => route.access === 'session')
  if (!row) throw new Error('no post of a session')
  const large = { 'content-length': String((row.route.maxBodyBytes ?? 100_000) + 1) }
  let isAnswered = false
  const late = ask(row, { headers: { ...bearer(tokens.session), ...large } }).then((answer) => {
    isAnswered = true
    return answer
  })
  expect(await ask(row, { headers: { ...bearer(tokens.operator), ...large } })).toMatchObject({ status: 413 })
  await expect.poll(() => app.clock.sleepers()).toBe(1)
  expect(isAnswered).toBe(false)
  app.clock.advance(250)
  expect(await late).toMatchObject({ status: 413, code: 'too_large' })
})

test('[MUS-293] of one session a single large body is read at a time, whoever else sends', async () => {
  const [row] = posts.filter(({ route }) => route.access === 'session')
  if (!row) throw new Error('no post of a session')
  const begun: string[] = []
  const sent: ReadableStreamDefaultController<Uint8Array>[] = []
  const send = (token: string) => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          begun.push(token)
          sent.push(controller)
        },
      },
      { highWaterMark: 0 },
    )
    const headers = { ...bearer(token), 'content-length': '90000' }
    return ask(row, { headers, body, duplex: 'half' })
  }
  const calls = [tokens.session, tokens.session, tokens.operator, tokens.operator].map(send)
  await expect.poll(() => begun).toEqual([tokens.session, tokens.operator, tokens.operator])
  for (const controller of sent) controller.close()
  await expect.poll(() => begun).toHaveLength(4)
  sent.at(-1)?.close()
  await Promise.all(calls)
})

test('[MUS-293] refusals of a flood come one after the other', async () => {
  const [row] = posts.filter(({ route }) => route.access === 'session')
  if (!row) throw new Error('no post of a session')
  const deep = '{"a":'.repeat(300)
  let answered = 0
  const calls = Array.from({ length: 3 }, async () => {
    const answer = await ask(row, { headers: bearer(tokens.session), body: deep })
    expect(answer).toMatchObject({ status: 413 })
    answered += 1
  })
  for (const n of [1, 2, 3]) {
    await expect.poll(() => app.clock.sleepers()).toBe(1)
    app.clock.advance(250)
    await expect.poll(() => answered).toBe(n)
  }
  await Promise.all(calls)
})
