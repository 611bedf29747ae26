import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { McpServer as Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { processes, rareSleep, running } from '../../../test/support/bash-bench.ts'
import { toolBench } from '../../../test/support/tool-bench.ts'
import type { McpServer } from '../../contract/mcp-server.ts'
import { openMcp } from './open-mcp.ts'

const secrets = { ANTHROPIC_API_KEY: 'sk-secret', MUSTER_TOKEN: 'mst_secret', GIVEN: 'given' }

/** A real server as a program, with tools that behave in every way. */
const program = (more = '') => ({
  command: process.execPath,
  args: [
    '--input-type=module',
    '-e',
    `import { McpServer } from '@modelcontextprotocol/server'
    import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
    import { spawn } from 'node:child_process'
    import * as z from 'zod'
    ${more}
    const server = new McpServer({ name: 'test', version: '1' })
    const text = (text) => ({ content: [{ type: 'text', text }] })
    const tool = (name, act, inputSchema = z.object({})) => server.registerTool(name, { description: 'Does ' + name, inputSchema }, act)
    tool('echo', ({ word }) => text('you said ' + word), z.object({ word: z.string().describe('A word') }))
    tool('env', () => text(JSON.stringify(process.env)))
    tool('long', () => text('x'.repeat(1000000)))
    tool('fail', () => ({ ...text('no such row'), isError: true }))
    tool('throw', () => { throw new Error('broke') })
    tool('crash', () => { console.error('out of memory'); process.exit(3) })
    tool('hang', () => new Promise(() => {}))
    tool('helper', ({ command }) => { spawn('sh', ['-c', command], { stdio: 'ignore' }); return text('started') }, z.object({ command: z.string() }))
    tool('many', () => ({ content: [{ type: 'text', text: 'a' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }, { type: 'resource', resource: { uri: 'x:y', text: 'inside' } }] }))
    await server.connect(new StdioServerTransport())`,
  ],
  env: {},
})

async function opened(servers: Record<string, McpServer>, more: { startMs?: number; callMs?: number } = {}) {
  const mcp = await openMcp({
    servers,
    env: { ...process.env, ...secrets },
    folder: process.cwd(),
    processes,
    signal: new AbortController().signal,
    startMs: 30_000,
    ...more,
  })
  onTestFinished(() => mcp.close())
  const b = toolBench(mcp.tools)
  const call = (tool: string, input: unknown = {}, context: { signal?: AbortSignal } = {}) =>
    b.call(`mcp__db__${tool}`, input, context)
  return { ...mcp, call }
}

test('[MUS-268] tools of a server that is a program are tools of an agent', async () => {
  const mcp = await opened({ db: program() })
  expect(mcp.problems).toEqual([])
  const [echo] = mcp.tools
  expect(echo).toMatchObject({
    name: 'mcp__db__echo',
    description: 'Does echo',
    category: 'action',
    schema: {
      type: 'object',
      properties: { word: { type: 'string', description: 'A word' } },
      required: ['word'],
    },
  })
  expect(await mcp.call('echo', { word: 'hi' })).toEqual({ text: 'you said hi', isError: false })
  expect(await mcp.call('many')).toMatchObject({ text: 'a\n[image: image/png, not shown]\ninside' })
  expect(await mcp.call('fail')).toEqual({ text: 'no such row', isError: true })
  expect(await mcp.call('throw')).toMatchObject({ isError: true, text: expect.stringContaining('broke') })
  expect(await mcp.call('echo', {})).toMatchObject({ isError: true, text: expect.stringMatching(/word/) })
  const long = await mcp.call('long')
  expect(long).toMatchObject({ isError: false, isTruncated: true })
  expect(long.text.length).toBeLessThan(31_000)
})

test('[MUS-268] a server gets no key and no token but what its entry names', async () => {
  const server = { ...program(), env: { NAMED: '${GIVEN}-${MISSING:-else}', PLAIN: 'p' } }
  const mcp = await opened({ db: server })
  const { text } = await mcp.call('env')
  expect(text).not.toMatch(/secret/)
  expect(JSON.parse(text)).toMatchObject({ NAMED: 'given-else', PLAIN: 'p' })
  const without = await opened({ db: { ...program(), env: { X: '${MISSING}' } } })
  expect(without.problems).toEqual([{ server: 'db', reason: expect.stringContaining('variable MISSING') }])
})

test('[MUS-268] a server that dies in the middle of a call is an answer, and is started again by the next', async () => {
  const mcp = await opened({ db: program() })
  const outcome = await mcp.call('crash')
  expect(outcome).toMatchObject({
    isError: true,
    text: expect.stringMatching(/MCP server db .*ended.*out of memory/),
  })
  expect(await mcp.call('echo', { word: 'again' })).toMatchObject({ text: 'you said again' })
})

test('[MUS-268] what hangs ends by its time or its cancel, and others go on', async () => {
  const mcp = await opened({ db: program() }, { callMs: 300 })
  expect(await mcp.call('hang')).toMatchObject({ isError: true, text: expect.stringContaining('timed out') })
  const patient = await opened({ db: program() })
  const stop = new AbortController()
  const waiting = patient.call('hang', {}, { signal: stop.signal })
  expect(await patient.call('echo', { word: 'meanwhile' })).toMatchObject({ text: 'you said meanwhile' })
  stop.abort()
  expect(await waiting).toEqual({ text: 'The call was cancelled.', isError: true })
  expect(await patient.call('echo', { word: 'after' })).toMatchObject({ isError: false })
})

test('[MUS-268] one that does not start is told, and the others are there', async () => {
  const mcp = await opened(
    {
      db: program(),
      missing: { command: '/nonexistent/server', args: [], env: {} },
      silent: { command: 'sleep', args: ['1000'], env: {} },
      dying: { command: 'sh', args: ['-c', 'echo no licence >&2; exit 1'], env: {} },
      gone: { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} },
      nonsense: { type: 'http', url: 'not an address', headers: {} },
    },
    { startMs: 3000 },
  )
  const reasons = Object.fromEntries(mcp.problems.map(({ server, reason }) => [server, reason]))
  expect(reasons).toEqual({
    missing: expect.stringContaining('ENOENT'),
    silent: expect.stringContaining('no answer in 3000 ms'),
    dying: expect.stringContaining('no licence'),
    gone: expect.any(String),
    nonsense: expect.stringContaining('URL'),
  })
  expect(await mcp.call('echo', { word: 'x' })).toMatchObject({ isError: false })
})

test('[MUS-268] close ends a server and all that it started, also one that does not want to', async () => {
  const rare = rareSleep()
  const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); '${rare}'`
  const mcp = await opened({ db: program(stubborn) })
  await mcp.call('helper', { command: `setsid ${rare} & ${rare}` })
  await expect.poll(async () => (await running(rare)).length).toBeGreaterThan(2)
  await mcp.close()
  expect(await running(rare)).toEqual([])
  expect(await mcp.call('echo', { word: 'x' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('run is over'),
  })
  expect(await running(rare)).toEqual([])
})

test('[MUS-268] a cancel while servers start ends those that did', async () => {
  const stop = new AbortController()
  const rare = rareSleep()
  const opening = openMcp({
    servers: { slow: { command: 'sh', args: ['-c', rare], env: {} } },
    env: process.env,
    folder: process.cwd(),
    processes,
    signal: stop.signal,
  })
  await expect.poll(async () => (await running(rare)).length).toBeGreaterThan(0)
  stop.abort(new Error('stopped'))
  await expect(opening).rejects.toThrow('stopped')
  expect(await running(rare)).toEqual([])
})

async function overHttp() {
  const seen: (string | undefined)[] = []
  const globals = { Request, Response }
  onTestFinished(() => void Object.assign(globalThis, globals))
  const listener = getRequestListener(async (request) => {
    if (request.headers.get('authorization') !== 'Bearer sk-web') return new Response('no', { status: 401 })
    const server = new Server({ name: 'web', version: '1' })
    server.registerTool(
      'a.b.c',
      { inputSchema: z.object({ n: z.number() }), annotations: { readOnlyHint: true } },
      ({ n }) => ({
        content: [{ type: 'text', text: String(n + 1) }],
      }),
    )
    server.registerTool('hang', { inputSchema: z.object({}) }, () => new Promise(() => {}))
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await server.connect(transport)
    return await transport.handleRequest(request)
  })
  const http = createServer((request, response) => {
    seen.push(request.headers.authorization)
    void listener(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, seen, http }
}

test('[MUS-268] a server over HTTP is the same, with headers from the environment', async () => {
  const { url, seen, http } = await overHttp()
  vi.stubEnv('WEB_KEY', 'sk-web')
  onTestFinished(() => void vi.unstubAllEnvs())
  const mcp = await opened({ db: { type: 'http', url, headers: { Authorization: 'Bearer ${WEB_KEY}' } } })
  expect(mcp.problems).toEqual([])
  expect(mcp.tools[0]).toMatchObject({ name: 'mcp__db__a_b_c', category: 'perception' })
  expect(await mcp.call('a_b_c', { n: 1 })).toEqual({ text: '2', isError: false })
  expect(new Set(seen)).toEqual(new Set(['Bearer sk-web']))
  const stop = new AbortController()
  const waiting = mcp.call('hang', {}, { signal: stop.signal })
  const asked = seen.length
  await expect.poll(() => seen.length).toBeGreaterThan(asked - 1)
  stop.abort()
  expect(await waiting).toMatchObject({ text: 'The call was cancelled.' })
  http.closeAllConnections()
  http.close()
  const gone = await mcp.call('a_b_c', { n: 1 })
  expect(gone).toMatchObject({ isError: true, text: expect.stringContaining('MCP server db') })
  expect(gone.text).not.toContain('sk-web')
  const denied = await opened({ db: { type: 'http', url: (await overHttp()).url, headers: {} } })
  expect(denied.problems).toMatchObject([{ server: 'db' }])
})
