import dns from 'node:dns/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { webFetchTool } from './web-fetch.ts'
import { isPublic, type WebPolicy } from './web-policy.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server on loopback, and a WebFetch whose policy names it. */
async function served(answer: Answer, policy: Partial<WebPolicy> = {}, timeoutMs = 60_000) {
  const got: IncomingMessage[] = []
  const server = createServer((request, response) => {
    got.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const b = toolBench([webFetchTool({ policy: { allow: ['127.0.0.1'], deny: [], ...policy }, timeoutMs })])
  return {
    got,
    server,
    port,
    base: `http://127.0.0.1:${port}`,
    fetch: (url: string, context: { signal?: AbortSignal } = {}) => b.call('WebFetch', { url }, context),
  }
}

/** Names are looked up by a mock, for every file that imports the function, until the test is over. */
function answersOfDns() {
  const looked = vi.spyOn(dns, 'lookup') as unknown as ReturnType<typeof vi.fn>
  syncBuiltinESMExports()
  onTestFinished(() => {
    looked.mockRestore()
    syncBuiltinESMExports()
  })
  return looked
}

const sending =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': type, ...headers }).end(body)

test('[MUS-267] a page is fetched as text, and nothing is sent but the address', async () => {
  const s = await served(sending('text/html; charset=utf-8', '<h1>Hi</h1><p>there <a href="/x">x</a>'))
  const outcome = await s.fetch(`${s.base}/page?q=1`)
  expect(outcome).toEqual({ text: `${s.base}/page?q=1\n\n# Hi\n\nthere [x](${s.base}/x)`, isError: false })
  expect(s.got[0]?.headers).not.toHaveProperty('cookie')
  expect(s.got[0]?.headers).not.toHaveProperty('authorization')
  expect(s.got[0]?.method).toBe('GET')
})

test.each([
  ['application/json', '{"a":1}', {}, '{"a":1}'],
  ['application/problem+json; charset=utf-8', '{}', {}, '{}'],
  ['text/xml', '<a>b</a>', {}, '<a>b</a>'],
  ['text/plain; charset=iso-8859-1', Buffer.from('grün', 'latin1'), {}, 'grün'],
  ['text/html', Buffer.from('<meta charset="windows-1252"><p>\u0080', 'latin1'), {}, '€'],
  ['text/plain; charset=nonsense', 'x', {}, 'x'],
  ['text/plain', gzipSync('packed'), { 'content-encoding': 'gzip' }, 'packed'],
  ['text/plain', '', {}, '[the page has no text]'],
])('[MUS-267] %s is read', async (type, body, headers, expected) => {
  const s = await served(sending(type, body, headers))
  expect(await s.fetch(s.base)).toMatchObject({ isError: false, text: `${s.base}/\n\n${expected}` })
})

test.each(['image/png', 'application/octet-stream', 'application/pdf', 'video/text', ''])(
  '[MUS-267] the type "%s" is refused',
  async (type) => {
    const s = await served((_request, response) =>
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end('x'),
    )
    expect(await s.fetch(s.base)).toMatchObject({
      isError: true,
      text: expect.stringContaining('only text, JSON and XML'),
    })
  },
)

test('[MUS-267] what is long is cut, also when it is packed small, and a status is told', async () => {
  const long = await served(
    sending('text/plain', gzipSync('x'.repeat(200 << 20)), { 'content-encoding': 'gzip' }),
  )
  const before = process.memoryUsage().rss
  const outcome = await long.fetch(long.base)
  expect(outcome).toMatchObject({
    isError: false,
    isTruncated: true,
    text: expect.stringMatching(/x\n\[cut: .*\]$/),
  })
  expect(outcome.text.length).toBeLessThan(51_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(150 << 20)
  const gone = await served((_request, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page'),
  )
  expect(await gone.fetch(gone.base)).toEqual({
    isError: true,
    text: `${gone.base}/ answered with status 404\n\nno such page`,
  })
})

test('[MUS-267] a page without an end is cut', async () => {
  const s = await served((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    const more = () => void (response.destroyed || response.write('x'.repeat(1 << 16), more))
    more()
  })
  expect(await s.fetch(s.base)).toMatchObject({ isError: false, isTruncated: true })
})

test.each([
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'data:text/plain,x',
  'not an address',
  'http://u:p@127.0.0.1/',
])('[MUS-267] %s is refused', async (url) => {
  const s = await served(sending('text/plain', 'x'))
  expect(await s.fetch(url)).toMatchObject({ isError: true })
  expect(s.got).toEqual([])
})

test('[MUS-267] only hosts of the policy are read, and what is closed stays closed', async () => {
  const s = await served(sending('text/plain', 'x'), {
    allow: ['127.0.0.1', '*'],
    deny: ['*.example.com', '127.0.0.1'],
  })
  expect((await s.fetch(s.base)).text).toContain('blocked by the policy')
  expect((await s.fetch('http://a.example.com/')).text).toContain('blocked by the policy')
  const none = await served(sending('text/plain', 'x'), { allow: [] })
  expect((await none.fetch(none.base)).text).toContain('(none)')
  const other = await served(sending('text/plain', 'x'), { allow: ['*.example.com'] })
  for (const host of ['example.com', 'badexample.com', 'example.com.evil.org'])
    expect((await other.fetch(`http://${host}/`)).text).toContain('not among the hosts')
})

test.each([
  'http://127.0.0.1:PORT/',
  'http://localhost:PORT/',
  'http://localhost.:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f.1:PORT/',
  'http://0:PORT/',
  'http://[::1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://169.254.169.254/',
])('[MUS-267] no way of writing it leads to this machine under a wide policy: %s', async (url) => {
  const s = await served(sending('text/plain', 'x'), { allow: ['*'] })
  const outcome = await s.fetch(url.replace('PORT', String(s.port)))
  expect(outcome).toMatchObject({
    isError: true,
    text: expect.stringContaining('not on the public internet'),
  })
  expect(s.got).toEqual([])
})

test('[MUS-267] a name is looked up once, and the address that was looked at is the one that is asked', async () => {
  const s = await served(sending('text/plain', 'x'), { allow: ['name.example', 'other.example', '*'] })
  const looked = answersOfDns()
  looked.mockResolvedValueOnce([{ address: '127.0.0.1', family: 4 }])
  looked.mockResolvedValueOnce([{ address: '192.0.2.1', family: 4 }])
  expect((await s.fetch(`http://name.example:${s.port}/`)).text).toContain('\n\nx')
  expect(s.got[0]?.headers.host).toBe(`name.example:${s.port}`)
  expect(looked).toHaveBeenCalledTimes(1)
  looked.mockReset()
  looked.mockResolvedValueOnce([
    { address: '93.184.215.14', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ])
  expect((await s.fetch(`http://mixed.example:${s.port}/`)).text).toContain('leads to 127.0.0.1')
  expect(s.got.length).toBe(1)
})

test('[MUS-267] every hop of a redirection is held to the policy', async () => {
  const hops: Record<string, string> = {
    '/a': '/b',
    '/b': 'http://127.0.0.1:PORT/c',
    '/loop': '/loop',
    '/out': 'http://localhost:PORT/c',
    '/file': 'file:///etc/passwd',
    '/meta': 'http://169.254.169.254/',
  }
  const s = await served(
    (request, response) => {
      const to = hops[request.url ?? '']?.replace('PORT', String(s.port))
      if (to === undefined) response.writeHead(200, { 'content-type': 'text/plain' }).end('end')
      else response.writeHead(302, { location: to }).end()
    },
    { allow: ['127.0.0.1'] },
  )
  expect(await s.fetch(`${s.base}/a`)).toMatchObject({ isError: false, text: `${s.base}/c\n\nend` })
  expect((await s.fetch(`${s.base}/loop`)).text).toContain('more than 5 times')
  for (const path of ['/out', '/file', '/meta']) {
    const asked = s.got.length
    expect(await s.fetch(`${s.base}${path}`)).toMatchObject({ isError: true })
    expect(s.got.length).toBe(asked + 1)
  }
})

test('[RUN-19] a cancel really ends the request, before the answer and in the middle of it', async () => {
  for (const answer of [
    () => {},
    (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).write('x'),
  ] as Answer[]) {
    const s = await served(answer)
    const closed = new Promise<void>((resolve) =>
      s.server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const stop = new AbortController()
    const waiting = s.fetch(s.base, { signal: stop.signal })
    await expect.poll(() => s.got.length).toBe(1)
    stop.abort()
    expect(await waiting).toMatchObject({ isError: true, text: 'The call was cancelled.' })
    await closed
  }
})

test('[MUS-267] a server that does not end, breaks off or packs badly is an answer', async () => {
  const slow = await served(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).write('x'),
    {},
    200,
  )
  expect((await slow.fetch(slow.base)).text).toContain('took longer than 200 ms')
  const broken = await served((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' })
      .write('x', () => response.destroy())
  })
  expect(await broken.fetch(broken.base)).toMatchObject({
    isError: true,
    text: expect.stringContaining('did not arrive completely'),
  })
  const packed = await served(sending('text/plain', 'no gzip', { 'content-encoding': 'gzip' }))
  expect(await packed.fetch(packed.base)).toMatchObject({
    isError: true,
    text: expect.stringContaining('did not arrive completely'),
  })
  expect((await packed.fetch('http://127.0.0.1:1/')).text).toContain('does not answer')
})

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['172.31.255.255', false],
  ['172.32.0.1', true],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['0.0.0.0', false],
  ['255.255.255.255', false],
  ['224.0.0.1', false],
  ['::', false],
  ['::1', false],
  ['fe80::1%eth0', false],
  ['fd00::1', false],
  ['::ffff:10.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:0:1::1', false],
  ['ff02::1', false],
  ['nonsense', false],
])('[MUS-267] %s is public: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected)
})
