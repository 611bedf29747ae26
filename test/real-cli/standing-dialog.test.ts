import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'as the script says' } })
const both = clis.filter(({ name }) => name === 'claude')
const question = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'r' },
    { label: 'Blue', description: 'b' },
  ],
}

describe.each(both)('Claude Code $version', (cli) => {
  const open = async ({ skip }: TestContext) => {
    if (cliPath('claude', cli.version) === undefined) skip(missingCli(cli))
    const m = await cliSessions('claude', {
      version: cli.version,
      config: 'child_agents: { mode: manual }\n',
    })
    const shows = (id: string, words: string) =>
      eventually(
        async () => (await m.client.getOutput({ id, lines: 60 })).lines.join('\n'),
        (text) => text.includes(words),
      )
    /** Begins, waits for the dialog, and kills the daemon that knows of it. */
    const stands = async (steps: readonly unknown[], words: string) => {
      const { session_id: id } = await m.spawn(scripted(steps, 'Begin.'))
      await eventually(
        () => m.client.listApprovals({}),
        (found) => found.approvals.length > 0,
      )
      await shows(id, words)
      await m.restart('SIGKILL')
      const { approvals } = await eventually(
        () => m.client.listApprovals({}),
        (found) => found.approvals.length > 0,
      )
      return { id, approvals }
    }
    const idle = (id: string) =>
      eventually(
        () => m.client.getSession({ id }),
        ({ status }) => status === 'idle',
      )
    return { m, shows, stands, idle }
  }

  test('[MUS-247] a permission that is asked when the daemon is killed is asked again and granted by its key', async (context) => {
    const { m, stands, idle } = await open(context)
    const { id, approvals } = await stands(
      [{ tools: [bash('echo hi > made.txt')] }, { text: 'Done.' }],
      '1. Yes',
    )
    expect(approvals).toMatchObject([{ subject: 'tool', action: 'Bash: echo hi > made.txt', risk: 'medium' }])
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(false)
    await m.client.decideApproval({ id, verdict: 'allow' })
    await idle(id)
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(true)
  })

  test('[MUS-247] it is refused by its key, and the reason is told', async (context) => {
    const { m, stands, shows } = await open(context)
    const { id } = await stands([{ tools: [bash('echo hi > made.txt')] }, { text: 'Done.' }], '1. Yes')
    await m.client.decideApproval({ id, verdict: 'deny', reason: 'use the other folder' })
    await shows(id, 'use the other folder')
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(false)
  })

  test('[MUS-247] a question that stands then is answered by its key', async (context) => {
    const { m, stands, shows } = await open(context)
    const { id, approvals } = await stands(
      [
        { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] },
        { text: 'You said: ${lastToolResult}' },
      ],
      'Blue',
    )
    expect(approvals).toMatchObject([{ subject: 'question', action: 'Which colour?' }])
    await m.client.sendMessage({ id, text: 'Blue' })
    await shows(id, 'You said:')
    expect((await m.client.getOutput({ id, lines: 60 })).lines.join('\n')).toMatch(/You said:.*Blue/s)
  })
})
