import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, tried } from '../support/clis.ts'
import { askingCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

/** The whole way of one child, by the real CLI: it asks and is allowed from outside, reports, completes; its parent is told once. */
test.for(tried)(
  '[SM-37][SM-86][SM-55][SM-69][MUS-231][MUS-246] $name $version: prompt, milestone, permission from outside, completion, archive, exact tokens',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version })
    const parent = await m.spawnShell()
    const prompt = scripted(
      [
        {
          text: 'I will write it.',
          tools: [askingCall(name, 'sm checkpoint "half way (1/2)"')],
          usage: { input: 1000, output: 20, cacheRead: 300 },
        },
        {
          text: 'I ask first.',
          tools: [askingCall(name, 'echo hi > made.txt')],
          usage: { input: 1200, output: 25 },
        },
        {
          text: 'Now I say that I am done.',
          tools: [askingCall(name, 'sm complete "All 26 tests passing."')],
          usage: { input: 1500, output: 30 },
        },
        { text: 'That was all.', usage: { input: 1600, output: 7 } },
      ],
      'Please write a file.',
    )
    const child = await m.spawn(prompt, { permission_mode: 'manual', parent: parent.session_id })
    const { approval_id } = await m.asked('echo hi')
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(false)
    expect(await m.sm('approve', approval_id)).toMatchObject({ code: 0 })
    const look = () => m.client.getSession({ id: child.session_id })
    const ended = await eventually(look, ({ completion_status }) => completion_status !== null)
    expect(ended).toMatchObject({
      status: 'completed',
      completion_message: 'All 26 tests passing.',
      checkpoints: [{ message: 'half way (1/2)' }],
    })
    expect(readFileSync(join(m.own.cwd, 'made.txt'), 'utf8')).toBe('hi\n')
    const sent = async () =>
      m.model
        .requests()
        .filter(({ answered }) => answered === 'step')
        .reduce((sum, { usage: u }) => sum + (u?.input ?? 0) + (u?.output ?? 0) + (u?.cacheRead ?? 0), 0)
    const used = 1000 + 20 + 300 + 1200 + 25 + 1500 + 30 + 1600 + 7
    await eventually(sent, (sum) => sum === used)
    // The last words come after the completion and count all the same; calls are told apart from them.
    const final = await eventually(
      look,
      ({ tokens_used, total_tools }) => tokens_used >= used && total_tools >= 3,
    )
    expect(final).toMatchObject({ tokens_used: used, total_tools: 3 })
    // Of all it did, only the command that is no `sm` was asked for.
    const { approvals } = await m.client.listApprovals({ all: true })
    expect(approvals.map(({ action }) => action)).toEqual(['Bash: echo hi > made.txt'])
    const { messages } = await m.client.listMessages({ id: parent.session_id })
    expect(messages.filter(({ preview }) => preview.includes('completed'))).toHaveLength(1)
    const archive = join(m.home, 'archives', child.session_id)
    if (name !== 'opencode')
      await eventually(
        async () => existsSync(archive) && readdirSync(archive).length,
        (n) => n !== false && n > 0,
      )
    await m.client.killSession({ id: child.session_id, force: true })
    expect(m.processes().length).toBeLessThanOrEqual(1)
  },
)
