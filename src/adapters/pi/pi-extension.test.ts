import { expect, test } from 'vitest'
import { loadPlugin, pluginDaemon } from '../../../test/support/plugin-host.ts'
import type { PermissionMode } from '../../contract/values.ts'
import { piExtension } from './pi-extension.ts'
import { piHook } from './pi-hooks.ts'

type Handler = (event: object, ctx: object) => unknown
type Select = (
  title: string,
  options: string[],
  given: { signal: AbortSignal },
) => Promise<string | undefined>

/** The extension in a host whose person answers as the test says, or never. */
async function host(
  mode: PermissionMode,
  options: { isGated?: boolean; hasUI?: boolean; select?: Select } = {},
) {
  const daemon = await pluginDaemon()
  const handlers = new Map<string, Handler>()
  const source = piExtension({ url: daemon.url, isGated: options.isGated ?? false, mode })
  const { default: extend } = await loadPlugin(source)
  ;(extend as (pi: object) => void)({ on: (event: string, handler: Handler) => handlers.set(event, handler) })
  const never: Select = (_title, _options, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
  const ctx = {
    hasUI: options.hasUI ?? true,
    ui: { select: options.select ?? never },
    isIdle: () => true,
    cwd: '/home/dev/proj',
    sessionManager: { getSessionId: () => 'id-1', getSessionFile: () => '/x.jsonl' },
  }
  const run = (event: string, fields: object) => handlers.get(event)?.(fields, ctx)
  const tool = (toolName: string) =>
    run('tool_call', { toolName, toolCallId: 'c1', input: { command: 'ls' } })
  return { daemon, run, tool }
}

test('[MUS-209] a gate is passed by an explicit yes only', async () => {
  const { daemon, tool } = await host('bypass', { isGated: true })
  daemon.answer = () => ({ allow: true })
  expect(await tool('bash')).toBeUndefined()
  daemon.answer = () => ({ allow: false, reason: 'your role has no Bash' })
  expect(await tool('bash')).toEqual({ block: true, reason: 'your role has no Bash' })
  for (const answer of [undefined, {}, { allow: 1 }, 500]) {
    daemon.answer = () => answer
    expect(await tool('bash')).toMatchObject({ block: true })
  }
  await daemon.stop()
  expect(await tool('bash')).toMatchObject({ block: true })
})

test.for([
  ['manual', ['read'], ['bash', 'edit', 'anything_else']],
  ['acceptEdits', ['read', 'edit', 'write'], ['bash', 'anything_else']],
  ['bypass', ['read', 'bash', 'anything_else'], []],
] as const)('[MUS-146] in the mode %s pi asks for what the mode says', async ([mode, free, asked]) => {
  const { daemon, tool } = await host(mode)
  daemon.answer = ({ event }) => (event === 'permission_request' ? { allow: false, reason: 'no' } : undefined)
  for (const name of free) expect(await tool(name)).toBeUndefined()
  for (const name of asked) expect(await tool(name)).toEqual({ block: true, reason: 'no' })
})

test('[MUS-187] the answer of the daemon counts, and a yes for the session is remembered', async () => {
  const { daemon, tool } = await host('manual')
  daemon.answer = ({ event }) =>
    event === 'permission_request' ? { allow: true, isRemembered: true } : undefined
  expect(await tool('bash')).toBeUndefined()
  const asked = () => daemon.heard.filter(({ event }) => event === 'permission_request').length
  expect(asked()).toBe(1)
  expect(await tool('bash')).toBeUndefined()
  expect(asked()).toBe(1)
  expect(await tool('write')).toBeUndefined()
  expect(asked()).toBe(2)
})

test('[MUS-187] the person in front of the terminal can answer while the daemon is away', async () => {
  const answers = ['Allow once', 'Deny', undefined]
  const { daemon, tool } = await host('manual', { select: async () => answers.shift() })
  await daemon.stop()
  expect(await tool('bash')).toBeUndefined()
  expect(await tool('bash')).toMatchObject({ block: true })
  expect(await tool('bash')).toMatchObject({ block: true })
})

test('[MUS-187] the question in the terminal goes away when the daemon has answered', async () => {
  let isGone = false
  const select: Select = (_title, _options, { signal }) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        isGone = true
        resolve(undefined)
      }),
    )
  const { daemon, tool } = await host('manual', { select })
  daemon.answer = ({ event }) => (event === 'permission_request' ? { allow: true } : undefined)
  expect(await tool('bash')).toBeUndefined()
  expect(isGone).toBe(true)
})

test('[MUS-209] where nobody can be asked the answer is no', async () => {
  const { daemon, tool } = await host('manual', { hasUI: false })
  await daemon.stop()
  expect(await tool('bash')).toMatchObject({ block: true })
})

test('[SM-94] a message can stand beside a prompt or behind a result', async () => {
  const { daemon, run } = await host('bypass')
  daemon.answer = () => ({ append: 'look here' })
  expect(await run('before_agent_start', { prompt: 'go' })).toEqual({
    message: { customType: 'muster', content: 'look here', display: true },
  })
  const content = [{ type: 'text', text: 'ok' }]
  expect(await run('tool_result', { toolName: 'bash', toolCallId: 'c', content })).toEqual({
    content: [...content, { type: 'text', text: 'look here' }],
  })
})

test('[SM-86] sessions, ends and queued prompts are told', async () => {
  const { daemon, run } = await host('bypass')
  await run('session_start', { reason: 'startup' })
  await run('agent_end', {
    messages: [{ role: 'assistant', stopReason: 'stop', content: [{ type: 'text', text: 'done' }] }],
  })
  await daemon.hears(2)
  expect(daemon.heard).toEqual([
    expect.objectContaining({ event: 'session_start', id: 'id-1', file: '/x.jsonl', reason: 'startup' }),
    expect.objectContaining({ event: 'agent_end', stopReason: 'stop', text: 'done' }),
  ])
})

test('[MUS-345] pi tells that a compaction begins, and whether a turn wants it', async () => {
  const { daemon, run } = await host('bypass')
  run('session_before_compact', {})
  run('session_compact', {})
  await daemon.hears(2)
  const told = daemon.heard.flatMap((payload) => piHook(payload, 0))
  expect(told.map(({ kind, ...more }) => [kind, (more as { trigger?: string }).trigger])).toEqual([
    ['compacting', 'manual'],
    ['compacted', 'manual'],
  ])
})
