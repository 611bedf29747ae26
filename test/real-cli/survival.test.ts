import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, newestOfEach } from '../support/clis.ts'
import { shellCall } from '../support/hermetic.ts'
import { outsideTmux } from '../support/outside.ts'
import { eventually } from '../support/session-daemon.ts'

// The others are not proven: what they keep of a turn that was cut off differs, and is told as lost more often than it has to be.
const proven = newestOfEach.filter(({ name }) => name === 'claude')

describe.each(proven)('$name', (cli) => {
  const open = async ({ skip }: TestContext, more = '') => {
    if (cliPath(cli.name, cli.version) === undefined) skip(missingCli(cli))
    return cliSessions(cli.name, {
      version: cli.version,
      config: `${more}child_agents: { mode: manual }\n`,
    })
  }
  type Machine = Awaited<ReturnType<typeof open>>
  const becomes = (m: Machine, id: string, wanted: string) =>
    eventually(
      () => m.m.client.getSession({ id }),
      ({ status }) => status === wanted,
    )
  const shows = (m: Machine, id: string, words: string) =>
    eventually(
      async () => (await m.m.client.getOutput({ id, lines: 200 })).lines.join('\n'),
      (text) => text.includes(words),
    )
  /** How often the model was asked the prompt that takes long. */
  const asked = (m: Machine) =>
    m.model.requests().filter(({ answered, isSent }) => answered === 'step' && !isSent).length
  /** An idle session that knows something, and one in the middle of its turn. */
  const two = async (m: Machine) => {
    const idle = await m.spawn(scripted([{ text: 'The password is swordfish.' }], 'Remember it.'))
    await shows(m, idle.session_id, 'swordfish')
    await becomes(m, idle.session_id, 'idle')
    const busy = await m.spawn(scripted([{ text: 'never', delayMs: 600_000 }], 'Take long.'))
    await eventually(
      async () => asked(m),
      (count) => count === 1,
    )
    await becomes(m, busy.session_id, 'running')
    return { idle: idle.session_id, busy: busy.session_id }
  }
  const table = async (m: Machine, dry_run = false) => {
    const { sessions } = await m.m.client.restoreSessions({ dry_run })
    return Object.fromEntries(sessions.map(({ session_id, result }) => [session_id, result]))
  }
  /** The same conversation goes on: its new terminal has what was said before. */
  const goesOn = async (m: Machine, id: string) => {
    const shown = await shows(m, id, 'swordfish')
    expect(shown.split('Remember it.')).toHaveLength(2)
    await becomes(m, id, 'idle')
    await m.m.client.sendMessage({ id, text: scripted([{ text: 'It goes on.' }], 'What was it?') })
    await shows(m, id, 'It goes on.')
  }

  /** A turn that was cut off is not idle: it is marked, ends waits, outlives the daemon, and is left by the next prompt. */
  const isCutOff = async (m: Machine, id: string) => {
    await becomes(m, id, 'failed')
    expect((await m.sm('wait', id, '--for', 'idle', '--timeout', '60')).code).toBe(1)
    expect((await m.sm('all')).text).toMatch(/!failed /)
    await m.m.restart('SIGKILL')
    await eventually(
      () => m.m.client.getSession({ id }),
      ({ health }) => health === 'ok',
    )
    expect(await m.m.client.getSession({ id })).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('cut off'),
    })
    await m.m.client.sendMessage({ id, text: scripted([{ text: 'Went on.' }], 'Continue.') })
    await becomes(m, id, 'idle')
  }

  test('[MUS-343][SM-43] a daemon that is killed in the middle of turns: both end once, seen or unseen, and what was queued arrives', async (context) => {
    const m = await open(context)
    const gate = (name: string) => join(m.own.cwd, name)
    const waiting = (name: string) =>
      m.spawn(
        scripted(
          [
            { tools: [shellCall(cli.name, `until [ -e ${gate(name)} ]; do sleep 0.2; done`)] },
            { text: `Done with ${name}.` },
          ],
          `Wait for ${name}.`,
        ),
        { permission_mode: 'bypass' },
      )
    const steps = () =>
      m.model.requests().filter(({ answered, isSent }) => answered === 'step' && isSent).length
    const [unseen, seen] = [await waiting('unseen'), await waiting('seen')]
    await eventually(
      async () => steps(),
      (count) => count === 2,
    )
    for (const { session_id } of [unseen, seen]) await becomes(m, session_id, 'running')
    const next = scripted([{ text: 'And this too.' }], 'Then this.')
    const { message_id: message } = await m.m.client.sendMessage({ id: seen.session_id, text: next })
    await m.m.restart('SIGKILL', async () => {
      writeFileSync(gate('unseen'), '')
      await eventually(
        async () => steps(),
        (count) => count === 3,
      )
    })
    await becomes(m, unseen.session_id, 'idle')
    await becomes(m, seen.session_id, 'running')
    expect((await m.m.client.getMessage({ message })).state).toBe('queued')
    writeFileSync(gate('seen'), '')
    await shows(m, seen.session_id, 'And this too.')
    await becomes(m, seen.session_id, 'idle')
    expect((await m.m.client.getMessage({ message })).state).toBe('accepted')
    for (const [session, turns] of [
      [unseen, 1],
      [seen, 2],
    ] as const) {
      const runs = await m.m.client.listAgentRuns({ session_id: session.session_id })
      expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: turns }, () => 'completed'))
    }
  })

  test('[MUS-135][MUS-342] a tmux server that is killed takes nothing with it: conversations go on, a cut-off turn is told', async (context) => {
    const m = await open(context)
    const { idle, busy } = await two(m)
    const before = spawnSync('tmux', ['-L', m.socket, 'display-message', '-p', '#{pid}'], {
      encoding: 'utf8',
    })
    process.kill(Number(before.stdout), 'SIGKILL')
    await eventually(
      () => table(m),
      (found) => found[idle] === 'restored' && found[busy] === 'needs you',
    )
    await goesOn(m, idle)
    // The turn ended once, as cut off, and its prompt was not given again.
    const { events } = await m.m.client.listEvents({ session: busy, type: 'agent.spawned,agent.failed' })
    expect(events.map(({ type }) => type)).toEqual(['agent.spawned', 'agent.failed'])
    expect(asked(m)).toBe(1)
    expect(await m.m.client.getSession({ id: idle })).toMatchObject({ is_alive: true })
    await isCutOff(m, busy)
  })

  test('[MUS-135][MUS-342] after a reboot one table tells what is restored and what needs a person', async (context) => {
    const m = await open(context)
    const { idle, busy } = await two(m)
    const left = await m.m.spawnShell({ name: 'own' })
    // Everything that a reboot takes: the daemon, tmux, every process, sockets.
    await m.m.daemon.kill('SIGKILL')
    const pid = spawnSync('tmux', ['-L', m.socket, 'display-message', '-p', '#{pid}'], { encoding: 'utf8' })
    process.kill(Number(pid.stdout), 'SIGKILL')
    await eventually(
      async () => {
        for (const one of m.m.processes()) spawnSync('kill', ['-9', String(one)])
        return m.m.processes().length
      },
      (count) => count === 0,
    )
    rmSync(join(m.home, 'muster.sock'), { force: true })
    await m.m.restart('SIGKILL')
    expect(await table(m)).toEqual({ [idle]: 'restored', [busy]: 'needs you', [left.session_id]: 'gone' })
    await goesOn(m, idle)
    expect(asked(m)).toBe(1)
    await isCutOff(m, busy)
  })

  test('[MUS-135][MUS-342] a dry restore says the same and starts nothing; restore then does it', async (context) => {
    const m = await open(context, '  auto_restore: false\n')
    const { idle, busy } = await two(m)
    m.tmux('kill-server')
    await eventually(
      () => m.m.client.getSession({ id: idle }),
      ({ is_alive }) => !is_alive,
    )
    const shown = await m.sm('all')
    expect(shown.text).toMatch(new RegExp(`${idle} +!error`))
    expect(shown.text).toMatch(new RegExp(`${busy} +!error`))
    expect((await m.sm('wait', idle, '--for', 'idle', '--timeout', '60')).code).toBe(1)
    const expected = { [idle]: 'restored', [busy]: 'needs you' }
    expect(await table(m, true)).toEqual(expected)
    expect(await table(m, true)).toEqual(expected)
    expect(m.tmux('list-sessions', '-F', '#{session_name}').trim()).toBe('muster-anchor')
    // Hooks of a program that has just ended may still be on their way.
    await eventually(
      async () => m.m.processes().length,
      (count) => count === 0,
    )
    expect(await table(m)).toEqual(expected)
    await goesOn(m, idle)
  })
})

test('[MUS-135] a conversation that somebody has open elsewhere is left alone: never two programs on one', async ({
  skip,
}) => {
  const program = cliPath('claude')
  if (program === undefined) return skip(missingCli({ name: 'claude', version: '2.1.325' }))
  const m = await cliSessions('claude', { config: 'child_agents: { mode: manual }\n' })
  const one = await m.spawn(scripted([{ text: 'Said once.' }], 'Say it.'))
  await eventually(
    () => m.client.getSession({ id: one.session_id }),
    ({ status }) => status === 'idle',
  )
  const { events } = await m.client.listEvents({ session: one.session_id, type: 'session.launched' })
  const [launched] = events.map(({ payload }) => payload as { foreignId: string })
  const foreignId = launched?.foreignId ?? ''
  await m.client.killSession({ id: one.session_id })
  // A person goes on with it by hand, with exactly the environment that it had.
  const person = outsideTmux()
  const pid = person.run('mine', [program, '--resume', foreignId], { env: { ...m.own.env }, cwd: m.own.cwd })
  await eventually(
    async () => (await m.client.listSessions({ origin: 'observed', open: true })).sessions.length,
    (count) => count === 1,
  )
  await expect(m.client.resumeSession({ id: one.session_id })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('quit it there'),
  })
  person.tmux('kill-server')
  await eventually(
    async () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  )
  await m.client.resumeSession({ id: one.session_id })
})
