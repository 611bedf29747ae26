import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { call, script } from '../support/own-agents.ts'
import { agentFile, is, type Json, runtimeDaemon } from '../support/runtime-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { withoutWalls } from '../support/without-walls.ts'

const stdio = import.meta.resolve('@modelcontextprotocol/server/stdio')
const server = import.meta.resolve('@modelcontextprotocol/server')
const zod = import.meta.resolve('zod')

/** An MCP server that doubles a number. */
const doubling = `
import { McpServer } from ${JSON.stringify(server)}
import { StdioServerTransport } from ${JSON.stringify(stdio)}
import * as z from ${JSON.stringify(zod)}
const server = new McpServer({ name: 'sums', version: '1' })
server.registerTool('double', { description: 'doubles', inputSchema: z.object({ n: z.number() }) }, async ({ n }) => ({ content: [{ type: 'text', text: String(n * 2) }] }))
await server.connect(new StdioServerTransport())
`

type Machine = Awaited<ReturnType<typeof runtimeDaemon>>

async function tools(m: Machine, agent: string): Promise<Json[]> {
  const [run] = await m.runs()
  expect(run).toMatchObject({ agent_id: agent })
  const { body } = await m.ask(`/api/agent-context?run_id=${String(run?.['run_id'])}&slice=tools`)
  return (body as Json)['tools'] as Json[]
}

test('[MUS-268][MUS-259] a tool of an MCP server waits for a yes, and a server that cannot be had is told', async () => {
  const m = await runtimeDaemon({ agents: { adder: '' } })
  const program = join(m.home, 'sums.mjs')
  writeFileSync(program, doubling)
  const mcp = `mcp:\n  sums: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(program)}] }\n  gone: { command: /nowhere/at/all }\n`
  writeFileSync(join(m.home, '.config/muster/agents/adder.md'), agentFile('main', mcp))
  await m.say(script(call('mcp__sums__double', { n: 21 }), { text: 'It is ${lastToolResult}.' }), {
    agent_id: 'adder',
  })
  const { approvals } = await eventually(
    () => m.daemon.client.listApprovals({}),
    (found) => found.approvals.length > 0,
  )
  expect(approvals[0]).toMatchObject({
    subject: 'tool',
    action: expect.stringContaining('mcp__sums__double'),
  })
  await m.daemon.client.decideApproval({ id: approvals[0]?.approval_id ?? '', verdict: 'allow' })
  await m.until(is('Message', { from: 'adder', content: 'It is 42.' }))
  expect(await tools(m, 'adder')).toMatchObject([
    { tool: 'mcp__sums__double', status: 'completed', detail: '42' },
  ])
  const { events } = await m.daemon.client.listEvents({ type: 'decision.made', limit: 50 })
  expect(JSON.stringify(events)).toContain('the run continues without gone')
})

test('[MUS-267] WebFetch gets what the settings name without a question, and never what they close', async () => {
  const page = createServer((_, response) =>
    response.setHeader('content-type', 'text/plain').end('hello there'),
  )
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void page.close())
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`
  const m = await runtimeDaemon({
    config: 'runtime: { web: { allow: [127.0.0.1], deny: [closed.example] } }\n',
  })
  await m.say(
    script(call('WebFetch', { url }), call('WebFetch', { url: 'http://closed.example/' }), { text: 'Done.' }),
  )
  await m.until(is('Message', { from: 'boss', content: 'Done.' }))
  expect(await tools(m, 'boss')).toMatchObject([
    { tool: 'WebFetch', status: 'completed', detail: expect.stringContaining('hello there') },
    { tool: 'WebFetch', status: 'denied', detail: expect.stringContaining('runtime.web.deny') },
  ])
})

test('[MUS-356] a language server that a project brings is held back without walls, shown by sm trust, and runs once it is trusted', async () => {
  const m = await runtimeDaemon({ env: withoutWalls() })
  const bin = join(m.project, 'node_modules/.bin')
  const fired = join(m.home, 'fired')
  mkdirSync(join(m.project, 'node_modules/typescript'), { recursive: true })
  writeFileSync(join(m.project, 'node_modules/typescript/package.json'), '{"version":"7.0.2"}')
  mkdirSync(bin)
  writeFileSync(join(bin, 'tsc'), `#!/bin/sh\n: > ${fired}\n`, { mode: 0o755 })
  const look = script(call('LSP', { operation: 'symbols', query: 'x' }), { text: 'Done.' })
  await m.say(look)
  await m.until(is('Message', { from: 'boss', content: 'Done.' }))
  expect(existsSync(fired)).toBe(false)
  const { events } = await m.daemon.client.listEvents({ type: 'decision.made', limit: 50 })
  expect(JSON.stringify(events)).toMatch(/continues without LSP.*node_modules\/\.bin\/tsc .*sm trust/)

  const [shown] = (await m.daemon.client.listTrust({ path: m.project })).projects
  expect(shown?.items).toMatchObject([
    {
      kind: 'program',
      file: 'node_modules/.bin/tsc',
      says: ['runs as the language server of built-in agents, unasked and without walls'],
      state: 'untrusted',
    },
  ])
  const files = (shown?.items ?? []).map(({ kind, file, sha256 }) => ({ kind, file, sha256 }))
  await m.daemon.client.trustProject({ root: m.project, files })
  await m.say(look)
  await m.until(is('Message', { from: 'boss', content: 'Done.' }), 2)
  expect(existsSync(fired)).toBe(true)
})
