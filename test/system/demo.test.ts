import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import { ownDaemon } from '../support/asked-daemon.ts'
import { eventually } from '../support/session-daemon.ts'

test('[MUS-214][MUS-370][MUS-371] the demonstration: a crew works on a real repository, real tests pass, no model is called, and one question is left', async () => {
  const m = await ownDaemon('models: { default: anthropic/claude-opus-5-5 }\n')
  const folder = join(m.home, 'demo')
  const first = await m.sm('demo', '--once')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(
    /no model is called[\s\S]*plan {2}2 tasks: farewell, shout[\s\S]*✓ shout: node --test[\s\S]*✓ node --test[\s\S]*round 1 {2}changes requested[\s\S]*round 2 {2}approved[\s\S]*sm approve [0-9a-f]{8}/,
  )
  expect(await m.sm('demo', '--once')).toEqual({ code: 0, out: '', err: '' })
  const again = await m.sm('demo', '--json')
  const told = JSON.parse(again.out)
  expect(told).toMatchObject({ played: true, repo: `${folder}-2`, verdict: 'approved', rounds: 2 })
  // The file follows what happens a moment later.
  const document = await eventually(
    async () => JSON.parse(readFileSync(told.session_file, 'utf8')) as MultiAgentSession,
    ({ summary }) => summary.final_verdict !== undefined && summary.review_iterations === 2,
  )
  expect(validateSession(document, { filename: basename(told.session_file) })).toEqual({
    valid: true,
    errors: [],
    warnings: [],
  })
  expect(document.summary).toMatchObject({ final_verdict: 'approved' })
  const [one, other] = ['farewell', 'shout'].map((id) =>
    document.sub_sessions.find(({ task }) => task.task_id === id),
  )
  expect(Date.parse(one?.started_at ?? '')).toBeLessThan(Date.parse(other?.completed_at ?? ''))
  expect(Date.parse(other?.started_at ?? '')).toBeLessThan(Date.parse(one?.completed_at ?? ''))
  const agents = await expectSameAgents(
    viewsOf(m.client()),
    await m.client().getSession({ id: told.session_id }),
  )
  expect(agents.delegated).toEqual(agents.agents)
  expect(agents.agents.length).toBeGreaterThan(4)
  const { events } = await m.client().listEvents({ session: told.session_id, type: 'llm.request.started' })
  expect(events.length).toBeGreaterThan(10)
  expect(events.every(({ payload }) => (payload as { provider?: string }).provider === 'scripted')).toBe(true)
  const git = (...args: string[]) => execFileSync('git', ['-C', told.repo, ...args], { encoding: 'utf8' })
  expect(git('branch', '--show-current')).toBe('main\n')
  git('checkout', '-q', told.branch)
  execFileSync(process.execPath, ['--test'], { cwd: told.repo, stdio: 'pipe' })
  git('checkout', '-q', 'main')
  expect(await m.sm('approve', told.session_id)).toMatchObject({ code: 0 })
  await expect.poll(() => git('log', '-1', '--format=%s', 'main')).toContain('shout')
})

test('[MUS-214] where there are sessions already, no toy is shown', async () => {
  const m = await ownDaemon()
  await m.sm('ask', 'boss', 'SCRIPT:[{"text":"Hi."}]')
  expect(await m.sm('demo', '--once')).toEqual({ code: 0, out: '', err: '' })
  expect((await m.client().listSessions({})).sessions).toHaveLength(1)
})
