import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'as the script says' } })
const both = clis.filter(({ name }) => name === 'claude')

describe.each(both)('Claude Code $version', (cli) => {
  const open = async ({ skip }: TestContext, config = '') => {
    if (cliPath('claude', cli.version) === undefined) skip(missingCli(cli))
    return cliSessions('claude', { version: cli.version, config })
  }
  const settled = (m: Awaited<ReturnType<typeof open>>, id: string) =>
    eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle' || status === 'completed',
    )

  test('[SM-69][MUS-187] a permission is asked, shown as a card and granted from outside', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const session = await m.spawn(
      scripted([{ tools: [bash('echo hi > made.txt')] }, { text: 'Result: ${lastToolResult}' }], 'Write it.'),
    )
    const { approvals } = await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length > 0,
    )
    expect(approvals).toMatchObject([
      { session_id: session.session_id, subject: 'tool', action: 'Bash: echo hi > made.txt', risk: 'medium' },
    ])
    expect(await m.client.getSession({ id: session.session_id })).toMatchObject({
      status: 'waiting_input',
      waiting_for: 'permission',
      pending_approvals: 1,
    })
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(false)
    await m.client.decideApproval({ id: session.session_id, verdict: 'allow' })
    await settled(m, session.session_id)
    expect(readFileSync(join(m.own.cwd, 'made.txt'), 'utf8')).toBe('hi\n')
    await expect(
      m.client.decideApproval({ id: approvals[0]?.approval_id ?? '', verdict: 'deny' }),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  test('[MUS-187] a refusal stops the tool, and its reason reaches the agent', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const session = await m.spawn(
      scripted(
        [{ tools: [bash('echo hi > made.txt')] }, { text: 'It said: ${lastToolResult}' }],
        'Write it.',
      ),
    )
    await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length > 0,
    )
    await m.client.decideApproval({ id: session.session_id, verdict: 'deny', reason: 'use the other folder' })
    await eventually(
      async () => (await m.client.getOutput({ id: session.session_id, lines: 60 })).lines.join('\n'),
      (text) => text.includes('use the other folder'),
    )
    await settled(m, session.session_id)
    expect(existsSync(join(m.own.cwd, 'made.txt'))).toBe(false)
  })

  test('[MUS-187] a dialog that a person answers in the terminal closes the question', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const session = await m.spawn(
      scripted([{ tools: [bash('echo hi > made.txt')] }, { text: 'Done.' }], 'Write it.'),
    )
    await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length > 0,
    )
    await eventually(
      async () => (await m.client.getOutput({ id: session.session_id, lines: 60 })).lines.join('\n'),
      (text) => text.includes('1. Yes'),
    )
    m.tmux('send-keys', '-t', `=${session.tmux_session}:`, '1')
    await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length === 0,
    )
    await settled(m, session.session_id)
    expect(readFileSync(join(m.own.cwd, 'made.txt'), 'utf8')).toBe('hi\n')
    const { approvals } = await m.client.listApprovals({ all: true })
    expect(approvals).toMatchObject([{ decision: 'expired' }])
  })

  test('[SM-96] a question makes it wait, its parent is told once, and sm send answers it', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const parent = await m.spawnShell()
    const question = {
      question: 'Which colour?',
      header: 'Colour',
      multiSelect: false,
      options: [
        { label: 'Red', description: 'r' },
        { label: 'Blue', description: 'b' },
      ],
    }
    const session = await m.spawn(
      scripted(
        [
          { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] },
          { text: 'You said: ${lastToolResult}' },
        ],
        'Ask me.',
      ),
      { parent: parent.session_id },
    )
    const { approvals } = await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.length > 0,
    )
    expect(approvals).toMatchObject([
      { subject: 'question', action: 'Which colour?', options: ['Red', 'Blue'] },
    ])
    const answer = await m.client.sendMessage({ id: session.session_id, text: 'Blue' })
    expect(answer.state).toBe('answered')
    await settled(m, session.session_id)
    await eventually(
      async () => (await m.client.getOutput({ id: session.session_id, lines: 60 })).lines.join('\n'),
      (text) => /You said:.*Blue/s.test(text),
    )
    const { messages } = await m.client.listMessages({ id: parent.session_id })
    expect(messages.filter(({ preview }) => preview.includes('waits for'))).toHaveLength(1)
  })

  test('[MUS-248] a prompt that is typed while a turn runs does not split the turn', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const steps = [
      { text: 'a', tools: [bash('echo a')], usage: { input: 100, output: 1 } },
      { text: 'b', tools: [bash('echo b')], usage: { input: 200, output: 2 }, delayMs: 6000 },
      { text: 'c', usage: { input: 300, output: 3 }, delayMs: 2000 },
    ]
    const session = await m.spawn(scripted(steps, 'Turn one.'), { permission_mode: 'bypass' })
    await eventually(
      async () => m.model.requests().filter(({ path }) => path.includes('messages')).length,
      (count) => count >= 2,
    )
    m.tmux('send-keys', '-t', `=${session.tmux_session}:`, '-l', 'typed while busy')
    await sleep(500)
    m.tmux('send-keys', '-t', `=${session.tmux_session}:`, 'Enter')
    await eventually(
      async () => m.model.requests().filter(({ answered }) => answered === 'step').length,
      (count) => count === 3,
    )
    await settled(m, session.session_id)
    const turn = async () => {
      const { runs } = await m.client.listRuns({ id: session.id })
      return runs.find(({ task }) => task?.startsWith('Turn one.'))
    }
    const run = await eventually(turn, (found) => (found?.tokens ?? 0) >= 606)
    expect(run).toMatchObject({ toolCompleted: 2, tokens: 606, status: 'completed' })
  })

  test('[MUS-180][MUS-250] the tokens and calls of a subagent count once, and it is a run below the turn', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const inner = scripted(
      [
        {
          text: 'inner',
          tools: [bash('echo x > inner.txt')],
          usage: { input: 100, output: 10, cacheRead: 5 },
        },
        { text: 'inner done', usage: { input: 200, output: 20 }, delayMs: 3000 },
      ],
      'Sub work.',
    )
    const agent = {
      description: 'sub',
      prompt: inner,
      subagent_type: 'general-purpose',
      run_in_background: false,
    }
    const session = await m.spawn(
      scripted(
        [
          { text: 'outer', tools: [{ name: 'Agent', input: agent }], usage: { input: 1000, output: 100 } },
          { text: 'outer done', usage: { input: 2000, output: 200 } },
        ],
        'Outer work.',
      ),
      { permission_mode: 'bypass' },
    )
    const look = () => m.client.listRuns({ id: session.id })
    const { runs } = await eventually(
      look,
      (found) =>
        found.runs.some(({ kind, status }) => kind === 'subagent' && status === 'completed') &&
        found.runs.some(({ tokens }) => tokens === 3300),
    )
    const [sub] = runs.filter(({ kind }) => kind === 'subagent')
    const [main] = runs.filter(({ task }) => task?.startsWith('Outer work.'))
    expect(sub).toMatchObject({
      parentRunId: main?.runId,
      agentType: 'general-purpose',
      tokens: 335,
      calls: 2,
      toolCompleted: 1,
    })
    expect(main).toMatchObject({ toolCompleted: 1, tokens: 3300, calls: 2 })
    await settled(m, session.session_id)
    // A newer version answers the note that its subagent has ended with a turn of its own.
    const spent = async () => {
      const used = m.model.requests().flatMap(({ usage }) => (usage ? [usage] : []))
      const total = used.reduce((sum, u) => sum + u.input + u.output + u.cacheRead + u.cacheWrite, 0)
      const { tokens_used } = await m.client.getSession({ id: session.session_id })
      return { total, tokens_used }
    }
    const { total } = await eventually(spent, (found) => found.total === found.tokens_used)
    expect(total).toBeGreaterThanOrEqual(3635)
  })

  test('[MUS-247] a subagent in the background that asks is shown, waits without a dialog, and is answered', async (context) => {
    const m = await open(context, 'child_agents: { mode: manual }\n')
    const inner = scripted([{ tools: [bash('echo x > inner.txt')] }, { text: 'inner done' }], 'Sub work.')
    const agent = {
      description: 'sub',
      prompt: inner,
      subagent_type: 'general-purpose',
      run_in_background: true,
    }
    const session = await m.spawn(
      scripted([{ tools: [{ name: 'Agent', input: agent }] }, { text: 'outer done' }], 'Outer work.'),
      { permission_mode: 'manual' },
    )
    const { approval_id } = await m.asked('echo x')
    // Its terminal is looked at every two seconds, and shows a calm prompt.
    await sleep(6000)
    expect(await m.client.getSession({ id: session.session_id })).toMatchObject({
      status: 'waiting_input',
      pending_approvals: 1,
    })
    expect(await m.sm('approve', approval_id)).toMatchObject({ code: 0 })
    await eventually(
      async () => existsSync(join(m.own.cwd, 'inner.txt')),
      (isMade) => isMade,
    )
    await settled(m, session.session_id)
  })
})
