import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'as the script says' } })
/** Newer versions run no `sleep` that stands alone. */
const lasting = (seconds: number) => `timeout ${seconds} tail -f /dev/null; true`
const both = clis.filter(({ name }) => name === 'claude')

/** Waits until a tool runs. */
const working = (m: Awaited<ReturnType<typeof cliSessions>>) =>
  eventually(
    () => m.client.listEvents({ type: 'tool.call.started', limit: 10, after: 0 }),
    ({ events }) => events.length > 0,
  )

describe.each(both)('Claude Code $version', (cli) => {
  const open = async ({ skip }: TestContext) => {
    if (cliPath('claude', cli.version) === undefined) skip(missingCli(cli))
    const m = await cliSessions('claude', {
      version: cli.version,
      config: 'child_agents: { mode: manual }\n',
    })
    const spawn = (prompt: string) => m.spawn(prompt, { permission_mode: 'bypass' })
    const status = (id: string, wanted: string) =>
      eventually(
        () => m.client.getSession({ id }),
        (session) => session.status === wanted,
      )
    const accepted = async (id: string) =>
      (
        await eventually(
          () => m.client.listMessages({ id }),
          ({ messages }) => messages.every(({ state }) => state === 'accepted' || state === 'failed'),
        )
      ).messages.map(({ preview, state }) => [preview.split('\n')[0], state])
    const proofs = async () => {
      const { events } = await m.client.listEvents({ type: 'message.accepted', limit: 100, after: 0 })
      return events.map(({ payload }) => (payload as { proof?: string }).proof)
    }
    const prompts = async (id: string) => {
      const { entries } = await m.client.getTranscript({ id })
      return entries.filter(({ who }) => who === 'user').map(({ text }) => text.trim().split('\n')[0])
    }
    return { m, spawn, status, accepted, proofs, prompts }
  }

  test('[MUS-244][SM-42] an important message reaches a busy agent through its hook, without a key, and its record proves it', async (context) => {
    const { m, spawn, status, accepted, proofs, prompts } = await open(context)
    const busy = scripted([{ tools: [bash(lasting(20))] }, { text: 'I saw it.', delayMs: 300 }], 'Work.')
    const { session_id: id } = await spawn(busy)
    await working(m)
    await m.client.sendMessage({ id, text: 'use the other key', mode: 'important' })
    expect(await accepted(id)).toEqual([
      ['Work.', 'accepted'],
      ['use the other key', 'accepted'],
    ])
    expect((await proofs()).at(-1)).toBe('transcript')
    await status(id, 'idle')
    expect(await prompts(id)).toEqual(['Work.'])
    const { events } = await m.client.listEvents({ type: 'message.delivered', limit: 100, after: 0 })
    expect(events.map(({ payload }) => (payload as { stage?: string }).stage)).toEqual(['injected'])
  })

  test('[SM-42][SM-43] an urgent message interrupts what runs and is the next prompt', async (context) => {
    const { m, spawn, status, accepted, prompts } = await open(context)
    const { session_id: id } = await spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
    await status(id, 'idle')
    await m.client.sendMessage({ id, text: scripted([{ tools: [bash(lasting(60))] }], 'Long work.') })
    await working(m)
    const started = performance.now()
    await m.client.sendMessage({ id, text: 'stop that', mode: 'urgent' })
    expect((await accepted(id)).at(-1)).toEqual(['stop that', 'accepted'])
    expect(performance.now() - started).toBeLessThan(50_000)
    // Its receipt may come before the line of its record is read.
    const said = await eventually(
      () => prompts(id),
      (all) => all.includes('stop that'),
    )
    expect(said.filter((text) => !text?.startsWith('['))).toEqual(['Begin.', 'Long work.', 'stop that'])
  })

  test('[SM-43] interrupted from outside before any answer, the prompt that comes back is no draft and holds nothing up', async (context) => {
    const { m, spawn, status, accepted } = await open(context)
    const { session_id: id } = await spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
    await status(id, 'idle')
    await m.client.sendMessage({ id, text: scripted([{ text: 'late', delayMs: 60_000 }], 'Never answered.') })
    await accepted(id)
    await sleep(1500)
    await m.client.interruptSession({ id })
    await m.client.sendMessage({ id, text: 'something else' })
    expect((await accepted(id)).at(-1)).toEqual(['something else', 'accepted'])
  })
})

test('[MUS-385] Gemini CLI stands still over a line of 50,000 characters: it is running from its prompt to the end of its turn', async ({
  skip,
}) => {
  const cli = { name: 'gemini', version: '0.61.0' } as const
  if (cliPath(cli.name) === undefined) return skip(missingCli(cli))
  const m = await cliSessions('gemini', { config: 'child_agents: { mode: manual }\n' })
  const { session_id: short, id } = await m.spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
  await eventually(
    () => m.client.getSession({ id: short }),
    ({ status }) => status === 'idle',
  )
  const { seq } = await m.client.health({})
  const script = scripted([{ text: 'Read.', delayMs: 12_000 }], '')
  await m.client.sendMessage({
    id: short,
    text: `${'plain words '.repeat(4200).slice(0, 50_000 - script.length)}${script}`,
  })
  const said = async () =>
    (
      await m.client.listEvents({ after: seq, session: id, type: 'agent.completed,session.state.changed' })
    ).events.map(({ type, payload }) => (type === 'agent.completed' ? type : (payload as { to: string }).to))
  await eventually(said, (all) => all.at(-1) === 'idle' && all.includes('agent.completed'))
  expect(await said()).toEqual(['running', 'agent.completed', 'idle'])
})
