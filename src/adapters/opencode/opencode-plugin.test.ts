import { expect, onTestFinished, test, vi } from 'vitest'
import { loadPlugin, pluginDaemon } from '../../../test/support/plugin-host.ts'
import { openCodeHook } from './opencode-hooks.ts'
import { openCodePlugin } from './opencode-plugin.ts'

type Hooks = {
  event(input: { event: { type: string; properties: object } }): Promise<void>
  'chat.message'(input: object, output: object): Promise<void>
  'experimental.session.compacting'(input: object): Promise<void>
  'tool.execute.before'(input: object, output: object): Promise<void>
  'tool.execute.after'(input: object, output: { output: string }): Promise<void>
}

/** The plugin in a host that notes what is posted to OpenCode's own server. */
async function host(isGated: boolean) {
  const daemon = await pluginDaemon()
  vi.stubEnv('MUSTER_TOKEN', 'mst_test')
  const posted: { url: string; path: object; body: object }[] = []
  const { Muster } = await loadPlugin(openCodePlugin(daemon.url, isGated))
  const client = { _client: { post: async (request: (typeof posted)[number]) => void posted.push(request) } }
  const hooks = await (Muster as (ctx: object) => Promise<Hooks>)({ client, directory: '/home/dev/proj' })
  const send = (type: string, properties: object) => hooks.event({ event: { type, properties } })
  return { daemon, posted, hooks, send }
}
const call = { tool: 'bash', sessionID: 'ses_1', callID: 'c1' }

test('[MUS-209] a tool runs by an explicit yes only', async () => {
  const { daemon, hooks } = await host(true)
  const before = () => hooks['tool.execute.before'](call, { args: { command: 'ls' } })
  daemon.answer = ({ event }) => (event === 'tool.before' ? { allow: true } : undefined)
  await before()
  daemon.answer = () => ({ allow: false, reason: 'your role has no Bash' })
  await expect(before()).rejects.toThrow('your role has no Bash')
  for (const answer of [undefined, {}, { allow: 'true' }, 'yes', null, 401, 500]) {
    daemon.answer = () => answer
    await expect(before()).rejects.toThrow('Muster did not answer')
  }
  await daemon.stop()
  await expect(before()).rejects.toThrow('Muster did not answer')
})

test('[MUS-209] without a gate a tool never waits for the daemon', async () => {
  const { daemon, hooks } = await host(false)
  await daemon.stop()
  await hooks['tool.execute.before'](call, { args: {} })
})

test('[SM-86] a tool runs only when the daemon has heard of it: what it does is not told before it', async () => {
  const { daemon, hooks } = await host(false)
  await hooks['tool.execute.before'](call, { args: {} })
  expect(daemon.heard.map(({ event }) => event)).toEqual(['init', 'tool.before'])
})

test('[SM-86] what is told while the daemon is away arrives in order when it is back', async () => {
  const { daemon, hooks, send } = await host(false)
  await daemon.hears(1)
  await daemon.stop()
  await hooks['chat.message'](
    { sessionID: 'ses_1' },
    { message: { id: 'm' }, parts: [{ type: 'text', text: 'go' }] },
  )
  await hooks['tool.execute.before'](call, { args: { command: 'ls' } })
  await send('session.idle', { sessionID: 'ses_1' })
  await daemon.start()
  await expect.poll(() => daemon.heard.at(-1)?.event).toBe('session.idle')
  // One whose answer was lost comes again, with the number it had.
  const once = new Map(daemon.heard.map((one) => [one['n'], one]))
  expect([...once.values()].map(({ event }) => event)).toEqual([
    'init',
    'chat.message',
    'tool.before',
    'session.idle',
  ])
  expect(daemon.heard.every(({ at }) => typeof at === 'number')).toBe(true)
})

test('[MUS-205] what the daemon refuses is not sent for ever', async () => {
  const { daemon, send } = await host(false)
  daemon.answer = ({ event }) => (event === 'session.compacted' ? 403 : undefined)
  await send('session.compacted', { sessionID: 'ses_1' })
  await send('session.idle', { sessionID: 'ses_1' })
  await daemon.hears(3)
  expect(daemon.heard.map(({ event }) => event)).toEqual(['init', 'session.compacted', 'session.idle'])
  expect(daemon.heard[0]?.['authorization']).toBe('Bearer mst_test')
})

test('[MUS-205] what the daemon has no room for now is told again, before what came after it', async () => {
  const { daemon, send } = await host(false)
  let refusals = 0
  daemon.answer = ({ event }) => (event === 'session.error' && ++refusals < 2 ? 429 : undefined)
  await send('session.error', { sessionID: 'ses_1', error: { name: 'MessageAbortedError' } })
  await send('session.idle', { sessionID: 'ses_1' })
  await daemon.hears(4)
  expect(daemon.heard.map(({ event }) => event)).toEqual([
    'init',
    'session.error',
    'session.error',
    'session.idle',
  ])
})

test('[SM-86] a daemon that takes long for each answer hears of everything: what is told again waits longer', async () => {
  const { daemon, send } = await host(false)
  await daemon.hears(1)
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers: (() => void)[] = []
  daemon.answer = () => new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)))
  const turnsOfTheLoop = async () => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  await turnsOfTheLoop()
  void send('session.idle', { sessionID: 'ses_1' })
  await daemon.hears(2)
  // It gives up, pauses, and tells the same again.
  vi.advanceTimersByTime(3100)
  await turnsOfTheLoop()
  vi.advanceTimersByTime(1000)
  await daemon.hears(3)
  vi.advanceTimersByTime(5000)
  void send('session.compacted', { sessionID: 'ses_1' })
  answers.at(-1)?.()
  await daemon.hears(4)
  expect(daemon.heard.map(({ event }) => event)).toEqual([
    'init',
    'session.idle',
    'session.idle',
    'session.compacted',
  ])
}, 20_000)

test('[MUS-187] a permission is held at the daemon and its answer handed to OpenCode', async () => {
  const { daemon, posted, send } = await host(false)
  daemon.answer = ({ event }) =>
    event === 'permission.asked' ? { path: 'reply', body: { reply: 'once' } } : undefined
  await send('permission.asked', { id: 'per_1', sessionID: 'ses_1', permission: 'bash' })
  await expect
    .poll(() => posted)
    .toEqual([
      expect.objectContaining({
        url: '/permission/{requestID}/reply',
        path: { requestID: 'per_1' },
        body: { reply: 'once' },
      }),
    ])
})

test('[MUS-187] a permission that is answered in the terminal is answered no more by the daemon', async () => {
  const { daemon, posted, send } = await host(false)
  const late = Promise.withResolvers<unknown>()
  daemon.answer = ({ event }) => (event === 'permission.asked' ? late.promise : undefined)
  await send('permission.asked', { id: 'per_1', sessionID: 'ses_1' })
  await daemon.hears(2)
  await send('permission.replied', { requestID: 'per_1', sessionID: 'ses_1' })
  late.resolve({ path: 'reply', body: { reply: 'once' } })
  await send('session.idle', { sessionID: 'ses_1' })
  await daemon.hears(3)
  await send('session.compacted', { sessionID: 'ses_1' })
  await daemon.hears(4)
  expect(posted).toEqual([])
})

test('[SM-118] the sessions of subagents are marked, and the rest of the noise is left out', async () => {
  const { daemon, send } = await host(false)
  await send('session.created', { info: { id: 'ses_1' }, sessionID: 'ses_1' })
  await send('session.created', { info: { id: 'ses_2', parentID: 'ses_1' }, sessionID: 'ses_2' })
  await send('message.part.delta', { sessionID: 'ses_1', delta: 'x' })
  await send('message.part.updated', { sessionID: 'ses_2', part: { type: 'text', text: 'half' } })
  await send('message.part.updated', {
    sessionID: 'ses_2',
    part: { type: 'text', text: 'whole', time: { end: 1 } },
  })
  await send('session.idle', { sessionID: 'ses_2' })
  await daemon.hears(5)
  expect(daemon.heard.map(({ event, agent, text }) => [event, agent, text])).toEqual([
    ['init', undefined, undefined],
    ['session.created', undefined, undefined],
    ['session.created', 'ses_2', undefined],
    ['message.part.updated', 'ses_2', undefined],
    ['session.idle', 'ses_2', 'whole'],
  ])
})

test('[SM-94] a message can be put behind the result of a tool', async () => {
  const { daemon, hooks } = await host(false)
  daemon.answer = ({ event }) => (event === 'tool.after' ? { append: 'look here' } : undefined)
  const output = { output: 'ok' }
  await hooks['tool.execute.after'](call, output)
  expect(output.output).toBe('ok\n\nlook here')
})

test('[MUS-345] a compaction is told as it begins: without a turn a person asked for it', async () => {
  const { daemon, hooks, send } = await host(false)
  const compact = async () => {
    await send('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
    await hooks['experimental.session.compacting']({ sessionID: 'ses_1' })
    await send('session.compacted', { sessionID: 'ses_1' })
  }
  await compact()
  await send('session.status', { sessionID: 'ses_1', status: { type: 'idle' } })
  await hooks['chat.message']({ sessionID: 'ses_1' }, { message: { id: 'm' }, parts: [] })
  await compact()
  await daemon.hears(6)
  const told = daemon.heard.flatMap((payload) => openCodeHook(payload, 0))
  const compactions = told.flatMap((one) =>
    one.kind === 'compacting' || one.kind === 'compacted' ? [[one.kind, one.trigger]] : [],
  )
  expect(compactions).toEqual([
    ['compacting', 'manual'],
    ['compacted', 'manual'],
    ['compacting', 'auto'],
    ['compacted', 'auto'],
  ])
})
