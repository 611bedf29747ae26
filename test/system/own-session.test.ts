import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownDaemon } from '../support/asked-daemon.ts'
import { call, script } from '../support/own-agents.ts'
import { person } from '../support/person.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

const usual = shared(() => ownDaemon())

test('[MUS-274][MUS-261] every command works on a session of built-in agents, without a word of terminals', async () => {
  const m = await ownDaemon('runtime: { approvals: [{ tool: Bash, action: ask }] }\n')
  const child = script(call('Bash', { command: 'echo from below' }), { text: 'late', delayMs: 60_000 })
  const prompt = `Decide. ${script(
    {
      text: 'I note it.',
      ...call('Blackboard', { operation: 'put', id: 'db', type: 'decision', content: 'Postgres 日本' }),
    },
    call('Task', { subagent_type: 'finder', prompt: child }),
    { text: 'never' },
  )}`
  const begun = await m.sm('ask', 'boss', prompt, '--timeout', '1')
  const id = /--session ([0-9a-f]{8})/.exec(begun.err)?.[1] ?? ''
  await eventually(
    () => m.client().listApprovals({ session: id }),
    ({ approvals }) => approvals.length === 1,
  )
  const shows = async (args: readonly string[], pattern: RegExp, code = 0) => {
    const ended = await m.sm(...args)
    expect([args[0], ended.code]).toEqual([args[0], code])
    expect(ended.out + ended.err).toMatch(pattern)
    expect(ended.out + (code === 0 ? ended.err : '')).not.toMatch(/terminal/)
  }
  await shows(['all'], new RegExp(`boss-${id} +${id} +!permission .* Decide\\.`))
  await shows(['status'], new RegExp(`boss-${id} \\(${id}\\) +\\| waiting_input`))
  await shows(['children', id], /^finder \([0-9a-f]{8}\) \| waiting_input /)
  await shows(['what', id], /is waiting_input: Decide\./)
  await shows(
    ['tail', id],
    /user: Decide\.[\s\S]*tool: Blackboard[\s\S]*tool: Bash \{"command":"echo from below"\}/,
  )
  await shows(['output', id], /tool: Blackboard/)
  await shows(['progress', id], /waiting_input[\s\S]*Blackboard\(1\) Task\(1\)/)
  await shows(['explain', id], /waiting_input[\s\S]*finder works for boss[\s\S]*sm approve/)
  await shows(['events', id], /asks - "Bash: echo from below"/)
  await shows(['blackboard', id], /^db \| decision \| by boss .*\n {4}Postgres 日本/)
  await shows(['wait', id, '--for', 'waiting', '--timeout', '60'], /waiting_input/)
  await shows(['approvals', id], /Bash: echo from below/)
  await shows(['ps'], /No processes/)
  await shows(['attach', id], /talk to it with: sm chat --session/, 4)
  await shows(['resume', id], /is open; talk to it with: sm chat --session/, 4)
  const { sessions } = await m.client().listSessions({})
  expect(sessions).toMatchObject([{ cli: 'own', waiting_for: 'permission', is_alive: true, health: 'ok' }])

  const p = person(m.home)
  p.run(`${process.execPath} ${m.main} watch`)
  await p.shows(new RegExp(`boss-${id}[\\s\\S]*permission`))
  p.keys('o')
  await p.shows(/what was said and done[\s\S]*user: Decide\./)
  p.keys('Escape')
  await p.shows(/enter chat/)
  p.keys('Enter')
  await p.shows(new RegExp(`session ${id} in[\\s\\S]*│ Bash: echo from below`))
  p.keys('C-d')
  await p.shows(/enter chat/)
  p.keys('q')

  await shows(['approve', id], /Approved .*echo from below/)
  await shows(['send', id, 'and this too'], /Queued for session/)
  const queued = (await m.sm('messages', id)).out
  const message = /sm messages dismiss (msg_\w+)/.exec(queued)?.[1] ?? ''
  await shows(['messages', 'dismiss', message], /Withdrawn from session .*: and this too/)
  await shows(['messages', 'dismiss', message], /no longer waiting/, 4)
  await shows(['interrupt', id], /Interrupted boss/)
  await shows(['wait', id, '--for', 'idle', '--timeout', '60'], /idle/)
  await shows(['checkpoint', 'half done', '--session', id], /Checkpoint recorded/)
  await shows(['checkpoints', id], /half done/)
  await shows(['complete', 'all fine', '--session', id], /marked complete/)
  await shows(['wait', id], /completed \| "all fine"/)
  await shows(['send', id, 'more'], /has ended; start another with: sm chat/, 4)

  const second = await m.sm('ask', 'boss', script({ text: 'late', delayMs: 60_000 }), '--timeout', '1')
  const other = /--session ([0-9a-f]{8})/.exec(second.err)?.[1] ?? ''
  await shows(['kill', other, '--reason', 'enough'], /Killed boss/)
  expect(await m.client().listAgentRuns({ session_id: other })).toMatchObject([{ status: 'cancelled' }])
})

test('[MUS-274] sm down --sessions ends sessions of built-in agents and workflows, too, and each is recorded as killed', async () => {
  const m = await usual()
  await m.sm('ask', 'boss', script({ text: 'Hello.' }), '--keep')
  writeFileSync(
    join(m.project, 'wait.ts'),
    "export const meta = { name: 'wait', description: 'Waits', phases: ['one'] }\nexport default async ({ approve }) => approve('Go on?')\n",
  )
  const { session_id: flow } = await m.client().startScript({
    script: join(m.project, 'wait.ts'),
    project_root: m.project,
    approved: true,
  })
  await eventually(
    () => m.client().listApprovals({}),
    ({ approvals }) => approvals.length === 1,
  )
  // It is called what it is, not an agent.
  for (const act of ['attach', 'resume', 'adopt'])
    expect(await m.sm(act, flow), act).toMatchObject({
      code: 4,
      err: expect.stringMatching(/is a workflow(?!.*built-in agent)/),
    })
  expect(await m.client().shutdown({ sessions: true })).toMatchObject({ killed: 2 })
  await m.restart()
  const { sessions } = await m.client().listSessions({})
  expect(sessions.map(({ status, is_alive }) => ({ status, is_alive }))).toEqual([
    { status: 'killed', is_alive: false },
    { status: 'killed', is_alive: false },
  ])
  expect(sessions.map(({ session_id }) => session_id)).toContain(flow)
})

test('[MUS-274] what cannot be meant is refused before anything begins', async () => {
  const m = await usual()
  for (const [args, code, err] of [
    [['crew', 'x', '--cli', 'nosuch'], 2, /nosuch is not a CLI; there are own, claude/],
    [['workflow', 'run', 'audit', '--yes', '--cli', 'codx'], 2, /codx is not a CLI; did you mean codex/],
    [['ask', 'boss', 'hi', '--timeout', '0'], 2, /timeout/],
    [['approve', 'apr_nope'], 3, /there is no approval apr_nope/],
    [['what', 'x', '--model', ''], 2, /--model cannot be ''/],
  ] as const) {
    const ended = await m.sm(...args)
    expect([args, ended.code]).toEqual([args, code])
    expect(ended.err).toMatch(err)
  }
  const huge = await m.begin(['ask', 'boss', '-'], 'x'.repeat(3_000_000)).ended
  expect(huge.code).toBe(2)
  const { sessions } = await m.client().listSessions({})
  expect(sessions.filter(({ is_alive }) => is_alive)).toEqual([])
})
