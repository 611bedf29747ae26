import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, tried } from '../support/clis.ts'
import { askingCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

/** What takes the first choice of a dialog in the terminal; Codex shows none while its hook waits. */
const firstChoice = { gemini: '1', pi: 'Enter', opencode: 'Enter' } as const
const others = tried.filter(({ name }) => name !== 'claude')

describe.each(others)('$name $version', (cli) => {
  const { name, version } = cli
  const open = async ({ skip }: TestContext) => {
    if (cliPath(name, version) === undefined) skip(missingCli(cli))
    const config = 'child_agents: { mode: manual, approvals: { timeout: 3600 } }\n'
    const m = await cliSessions(name, { version, config })
    /** From now on a question is a no after so long. */
    const expireAfter = async (seconds: number) => {
      const file = join(m.home, 'config.yaml')
      writeFileSync(file, readFileSync(file, 'utf8').replace('timeout: 3600', `timeout: ${seconds}`))
      await m.restart('SIGTERM')
    }
    const made = (file: string) => {
      const path = join(m.own.cwd, file)
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined
    }
    const begin = (steps: readonly unknown[]) =>
      m.spawn(scripted(steps, 'Do it.'), { permission_mode: 'manual' })
    const call = (command: string) => ({ text: 'next', tools: [askingCall(name, command)] })
    const idle = (id: string) =>
      eventually(
        () => m.client.getSession({ id }),
        ({ status }) => status === 'idle',
      )
    return { m, made, begin, call, idle, expireAfter }
  }

  test('[SM-69][MUS-187][MUS-247] sm approve and sm reject answer for once, the session or good, and no with its reason; silence is a no', async (context) => {
    const { m, made, begin, call, idle, expireAfter } = await open(context)
    const kept = call('echo b >> b.txt')
    const first = await begin([
      kept,
      kept,
      call('echo c >> c.txt'),
      call('echo d >> d.txt'),
      { text: 'It said: ${lastToolResult}' },
    ])
    const b = await m.asked('echo b')
    expect(b).toMatchObject({
      subject: 'tool',
      action: 'Bash: echo b >> b.txt',
      session_id: first.session_id,
    })
    expect(await m.client.getSession({ id: first.session_id })).toMatchObject({
      status: 'waiting_input',
      waiting_for: 'permission',
    })
    expect(made('b.txt')).toBeUndefined()
    expect(await m.sm('approve', first.session_id, '--session')).toMatchObject({ code: 0 })
    expect(await m.sm('reject', b.approval_id)).toMatchObject({ code: 4 })
    // The same again is not asked.
    const c = await m.asked('echo c')
    expect(made('b.txt')).toBe('b\nb\n')
    expect(await m.sm('approve', c.approval_id, '--always')).toMatchObject({ code: 0 })
    const d = await m.asked('echo d')
    expect(made('c.txt')).toBe('c\n')
    expect(await m.sm('reject', d.approval_id, 'use the other folder')).toMatchObject({ code: 0 })
    await eventually(
      async () => (await m.client.getOutput({ id: first.session_id, lines: 80 })).lines.join('\n'),
      (text) => text.includes('use the other folder'),
    )
    expect(made('d.txt')).toBeUndefined()
    await idle(first.session_id)
    const { approvals: all } = await m.client.listApprovals({ all: true })
    const byPerson = all.filter((one) => one.decided_by === 'operator')
    expect(byPerson.map(({ action, decision }) => [action, decision])).toEqual([
      ['Bash: echo b >> b.txt', 'granted'],
      ['Bash: echo c >> c.txt', 'granted'],
      ['Bash: echo d >> d.txt', 'rejected'],
    ])
    await m.client.killSession({ id: first.session_id, force: true })

    const key = Object.entries(firstChoice).find(([cli]) => cli === name)?.[1]
    const second = await begin([
      call('echo c >> c.txt'),
      ...(key ? [call('echo t >> t.txt')] : []),
      { text: 'Done.' },
    ])
    if (key) {
      await m.asked('echo t')
      await eventually(
        async () => (await m.client.getOutput({ id: second.session_id, lines: 60 })).lines.join('\n'),
        (text) => /Allow once/.test(text),
      )
      m.tmux('send-keys', '-t', `=${second.tmux_session}:`, key)
    }
    await eventually(
      async () => made(key ? 't.txt' : 'c.txt'),
      (text) => text === (key ? 't\n' : 'c\nc\n'),
    )
    await idle(second.session_id)
    expect(made('c.txt')).toBe('c\nc\n')
    await expireAfter(12)
    const silent = scripted([call('echo e >> e.txt'), { text: 'Done.' }], 'Once more.')
    await m.client.sendMessage({ id: second.session_id, text: silent })
    await m.asked('echo e')
    await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length === 0,
    )
    await idle(second.session_id)
    expect(made('e.txt')).toBeUndefined()
    const { approvals } = await m.client.listApprovals({ session: second.session_id, all: true })
    expect(
      approvals.map(({ action, decision, decided_by }) => [action.slice(-5), decision, decided_by]),
    ).toEqual([
      ['c.txt', 'granted', 'remembered'],
      ...(key ? [['t.txt', 'expired', null]] : []),
      ['e.txt', 'expired', null],
    ])
    await m.client.killSession({ id: second.session_id, force: true })
  })
})
