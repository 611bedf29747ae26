import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Notice } from '../../ports/notifier.ts'
import { type WebhookOptions, webhook } from './webhook.ts'

const never = new AbortController().signal
const notice: Notice = {
  id: 'evt_01',
  event: 'completed',
  session_id: 'abc12345',
  name: 'engineer-a',
  parent_session_id: null,
  message: 'completed: Done',
  timestamp: '2026-01-27T15:30:00.000Z',
  seq: 7,
}

type Got = { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string }

/** A server on loopback that answers as the test says, and what it got. */
async function hooked(answer: (response: ServerResponse) => void) {
  const got: Got[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => (body += piece))
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}`
  const send = (more: Partial<WebhookOptions> = {}) =>
    webhook({ url: `${base}/hook`, timeoutMs: 5000, env: {}, ...more }).send(notice, never)
  return { got, base, send }
}
const answering = (status: number, headers: Record<string, string> = {}) =>
  hooked((response) => response.writeHead(status, headers).end('x'.repeat(1000)))

test('[SM-93] a notice is posted as JSON with its id as idempotency key, signed when there is a key', async () => {
  const { got, base, send } = await answering(204)
  const secret = { url: `${base}/\${PART}/hook`, secretEnv: 'KEY', env: { PART: 'secret-part', KEY: 'k' } }
  expect(await send(secret)).toEqual({ kind: 'taken' })
  const [one] = got
  expect(one?.path).toBe('/secret-part/hook')
  expect(JSON.parse(one?.body ?? '')).toEqual(notice)
  const signature = createHmac('sha256', 'k')
    .update(one?.body ?? '')
    .digest('hex')
  expect(one?.headers).toMatchObject({
    'content-type': 'application/json',
    'idempotency-key': 'evt_01',
    'x-muster-signature': `sha256=${signature}`,
  })
})

test.each([
  [200, { kind: 'taken' }],
  [500, { kind: 'later', why: 'it answered 500' }],
  [503, { kind: 'later', why: 'it answered 503' }],
  [429, { kind: 'later', why: 'it answered 429', afterMs: 7000 }],
  [408, { kind: 'later', why: 'it answered 408' }],
  [302, { kind: 'refused', why: 'it answered 302' }],
  [400, { kind: 'refused', why: 'it answered 400' }],
  [410, { kind: 'refused', why: 'it answered 410' }],
])(
  '[SM-93] an answer of %i is understood, and no address is followed elsewhere',
  async (status, expected) => {
    const headers = {
      ...(status === 429 && { 'retry-after': '7' }),
      ...(status === 302 && { location: '/x' }),
    }
    const { got, send } = await answering(status, headers as Record<string, string>)
    expect(await send()).toEqual(expected)
    expect(got).toHaveLength(1)
  },
)

test('[SM-93] silence and a closed door are tried later, and the address is in no reason', async () => {
  const { send } = await hooked(() => {})
  expect(await send({ timeoutMs: 50 })).toEqual({ kind: 'later', why: 'no answer in time' })
  const gone = createServer()
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
  const { port } = gone.address() as AddressInfo
  await new Promise((resolve) => gone.close(resolve))
  expect(await send({ url: `http://127.0.0.1:${port}/services/very-secret` })).toEqual({
    kind: 'later',
    why: 'ECONNREFUSED',
  })
})

test('[SM-93] a variable that is not set is said by its name, and nothing is sent', async () => {
  const { got, base, send } = await answering(200)
  expect(await send({ url: `${base}/\${HOOK_PART}` })).toEqual({
    kind: 'refused',
    why: 'HOOK_PART is not set in the environment of the daemon',
  })
  expect(got).toEqual([])
})

test('[SM-93] one that is stopped throws instead of telling of an attempt', async () => {
  const { base } = await hooked(() => {})
  const sending = webhook({ url: base, timeoutMs: 60_000, env: {} }).send(notice, AbortSignal.timeout(50))
  await expect(sending).rejects.toThrow()
})
