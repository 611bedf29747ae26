import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demonstrationRequest } from '../../src/contract/demonstration.ts'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { DeveloperOutput, ReviewerOutput } from '../../src/contract/session-file/outputs.ts'
import { tokenTotal } from '../../src/core/ledger/model-usage.ts'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { bash } from '../support/crew-play.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

/** Whether it is of somebody who works for the crew; the run of the crew itself is around them. */
const isOfMember = ({ parentRunId }: AgentEvent): boolean => parentRunId !== undefined

type Bed = Awaited<ReturnType<typeof crewDaemon>>
const eventsOf = async <T extends EventType>(m: Bed, session: string, type: T) =>
  (await m.events(session, type)) as EventOf<T>[]

/** A run that is approved, and has been landed once the first test is over. */
const approved = shared(async () => {
  const m = await crewDaemon()
  const before = m.git('rev-parse', 'main')
  const crew = await m.crew(demonstrationRequest)
  return { m, before, ...crew, flow: await m.ended(crew.workflow_id) }
})

test('[COL-74][COL-22][COL-29][COL-30] a whole run: planned, done side by side, reviewed, mended, approved, and landed when a person says so', async () => {
  const { m, before, workflow_id, session_id, branch, flow } = await approved()
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      branch,
      tasks: [
        { task_id: 'farewell', state: 'completed', lines_added: 9 },
        { task_id: 'shout', state: 'completed', lines_added: 9 },
        { task_id: 'shout-rev1', state: 'completed', lines_added: 5, lines_removed: 1 },
      ],
      rounds: [{ verdict: 'changes_requested' }, { verdict: 'approved', addressed: ['r1-empty-shout'] }],
      checks: [{ name: 'tests', passed: true }],
      findings: { open: [], mended: [{ finding_id: 'r1-empty-shout', fixed_in_iteration: 2 }] },
    },
  })
  // Two developers were at work at the same time, and each in a place of its own.
  const assigned = await eventsOf(m, session_id, 'agent.task.assigned')
  const over = await eventsOf(m, session_id, 'task.completed')
  const [a, b] = assigned
  expect(new Set([a?.payload.taskId, b?.payload.taskId])).toEqual(new Set(['farewell', 'shout']))
  expect(over.find(({ taskId }) => taskId === a?.payload.taskId)?.seq).toBeGreaterThan(b?.seq ?? Infinity)
  // Nothing of the user's has moved, and nothing is left lying about.
  expect(m.git('rev-parse', 'main')).toBe(before)
  expect(m.git('status', '--porcelain')).toBe('')
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(m.git('branch', '--format=%(refname:short)').trim().split('\n').toSorted()).toEqual(['main', branch])
  expect(existsSync(join(m.home, 'worktrees')) ? readdirSync(join(m.home, 'worktrees')) : []).toEqual([])
  const [ask] = flow.approvals
  expect(ask).toMatchObject({ subject: 'land', action: `Land ${branch} into main?` })
  await m.client().decideApproval({ id: session_id, verdict: 'allow', scope: 'once' })
  await eventually(
    () => m.client().getSession({ id: session_id }),
    ({ status }) => status === 'completed',
  )
  expect(await m.client().getWorkflow({ id: workflow_id })).toMatchObject({ status: 'completed' })
  expect((await m.client().listWorkflows({})).workflows).toHaveLength(1)
  expect(m.git('merge-base', '--is-ancestor', branch, 'main')).toBe('')
  const effects = (await m.client().listEvents({ limit: 1000 })).events.filter(({ type }) =>
    type.startsWith('effect.'),
  )
  expect(effects).toMatchObject([
    { type: 'effect.intended', payload: { effect: 'git', target: 'main', detail: { branch } } },
    {
      type: 'effect.done',
      payload: { effect: 'git', receipt: { landed: m.git('rev-parse', 'main').trim() } },
    },
  ])
  execFileSync(process.execPath, ['--test'], { cwd: m.repo, stdio: 'pipe' })
})

test('[MUS-370][MUS-371] a crew is one row, and whoever worked in it is below it in every view', async () => {
  const { m, session_id } = await approved()
  const session = await m.client().getSession({ id: session_id })
  const { agents, delegated } = await expectSameAgents(viewsOf(m.client()), session)
  expect(delegated).toEqual(agents)
  const runs = (await m.client().listAgentRuns({ session_id, limit: 1000 })).toReversed()
  expect(runs[0]).toMatchObject({ agent_id: 'architect', agent_kind: 'main' })
  expect(runs[0]?.parent_run_id).toBeUndefined()
  expect(
    runs
      .slice(1)
      .map(({ run_id }) => String(run_id))
      .toSorted(),
  ).toEqual(agents)
  const { children } = await m.client().listChildren({ id: session_id })
  expect(children.map(({ name, status }) => `${name} ${status}`)).toContain('developer-1 completed')
})

test('[MUS-369][OBS-36][OBS-37][COL-2][COL-3][COL-4][COL-9][COL-13][COL-17][COL-21][COL-23][COL-24][COL-25][COL-26][COL-27][COL-28][COL-32][MUS-166][OBS-40][OBS-46][OBS-50] every step is told: the phases in order, rounds, messages without a gap, patches, checks, findings', async () => {
  const { m, workflow_id, session_id } = await approved()
  const ofCrew = async <T extends EventType>(type: T) =>
    (await eventsOf(m, session_id, type)).filter(({ workflowId }) => workflowId === workflow_id)
  const phases = await ofCrew('workflow.phase.started')
  expect(phases.map(({ payload }) => payload.phase)).toEqual([
    'receive',
    'analyze',
    'plan',
    'delegate',
    'collect',
    'integrate',
    'review',
    'iterate',
    'delegate',
    'collect',
    'integrate',
    'review',
    'complete',
    'land',
  ])
  expect(await ofCrew('workflow.phase.completed')).toHaveLength(phases.length)
  expect(await ofCrew('workflow.node.exit')).toHaveLength(phases.length)
  const iterate = (await ofCrew('workflow.node.exit')).filter(({ phase }) => phase === 'iterate')
  expect(iterate.map(({ payload }) => payload)).toMatchObject([
    { node: 'iterate-1', outcome: 'ok', edge: 'delegate' },
  ])
  // Nobody was asked: who began it let it begin, and it says so before its first phase, which hangs under that.
  const [created] = await ofCrew('workflow.created')
  expect(await ofCrew('workflow.created')).toMatchObject([
    {
      phase: 'begin',
      payload: {
        name: 'balanced',
        script: demonstrationRequest,
        phases: [...new Set(phases.map(({ payload }) => payload.phase))],
        // How many there are; what it plans is not known yet.
        fanOut: 4,
      },
    },
  ])
  expect(await ofCrew('workflow.approved')).toMatchObject([
    {
      parentSpanId: created?.spanId,
      payload: { approvedBy: 'operator', reason: expect.stringContaining('approve_plan') },
    },
  ])
  const [letBegin] = await ofCrew('workflow.approved')
  expect(letBegin?.seq).toBeLessThan(phases[0]?.seq ?? 0)
  expect(phases.every(({ parentSpanId }) => parentSpanId === letBegin?.spanId)).toBe(true)
  expect(
    (await eventsOf(m, session_id, 'loop.round.completed')).map(({ payload }) => payload.verdict),
  ).toEqual(['changes_requested', 'approved'])
  const said = (await eventsOf(m, session_id, 'agent.message.created'))
    .map(({ payload }) => payload)
    .filter(({ messageType }) => messageType !== undefined)
  expect(said.map(({ sequenceNumber }) => sequenceNumber)).toEqual(said.map((_, i) => i + 1))
  const kinds = said.map(({ messageType }) => messageType)
  for (const [kind, count] of [
    ['task_assignment', 3],
    // Of the tasks and of the reviews.
    ['acknowledgment', 5],
    ['task_completion', 3],
    ['review_request', 2],
    ['review_result', 2],
  ] as const)
    expect(
      kinds.filter((one) => one === kind),
      kind,
    ).toHaveLength(count)
  for (const one of said.filter(({ messageType }) => messageType === 'task_completion')) {
    const asked = said.find(({ messageId }) => messageId === one.replyTo)
    expect(asked).toMatchObject({ messageType: 'task_assignment', correlationId: one.correlationId })
  }
  // One orchestrates: work comes from it, and what was done goes back to it.
  for (const { messageType, from, to } of said)
    expect(
      /^(task_assignment|review_request)$/.test(messageType ?? '') ? from.agentId : to.agentId,
      messageType,
    ).toBe('architect')
  const given = (kind: string) => said.filter(({ messageType }) => messageType === kind)[0]?.payload
  expect(DeveloperOutput.parse(given('task_completion'))).toMatchObject({
    status: 'completed',
    summary: expect.stringContaining('passes'),
    changes: { files_created: [{ lines_added: 2 }, { lines_added: 7 }] },
  })
  expect(ReviewerOutput.parse(given('review_result'))).toMatchObject({
    verdict: 'changes_requested',
    verification: { tests_passed: true },
  })
  // Each branch is a workflow of its own below this one, named by round, task and attempt.
  const branches = (await ofCrew('workflow.checkpoint.saved')).flatMap(({ payload }) =>
    /^r\d+\/[^/]+#\d+$/.test(payload.step ?? '') ? [payload.step] : [],
  )
  expect(branches).toHaveLength(3)
  expect(new Set(branches)).toEqual(new Set(['r1/farewell#1', 'r1/shout#1', 'r2/shout-rev1#1']))
  const [summary] = await ofCrew('result.summary')
  expect(summary?.actor).toBe('architect')
  // The architect only reads, before anything is delegated; each call hangs below what asked for it.
  const calls = await ofCrew('tool.call.started')
  expect(
    calls.filter(({ actor }) => actor === 'architect').map(({ phase, payload }) => [phase, payload.tool]),
  ).toEqual([
    ['analyze', 'Glob'],
    ['analyze', 'Read'],
  ])
  const everything = await m.events(session_id)
  const above = new Map(
    everything.flatMap(({ spanId, parentSpanId }) => (parentSpanId ? [[spanId, parentSpanId]] : [])),
  )
  const [begun] = await ofCrew('workflow.started')
  for (const { spanId } of calls) {
    const trail = [spanId]
    for (let next = above.get(spanId); next !== undefined; next = above.get(next)) trail.push(next)
    expect(trail).toContain(begun?.spanId)
    expect(trail.length).toBeGreaterThan(4)
  }
  expect((await eventsOf(m, session_id, 'plan.created')).map(({ payload }) => payload.tasks)).toMatchObject([
    [
      { taskId: 'farewell', priority: 'medium', dependencies: [] },
      { taskId: 'shout', priority: 'medium', dependencies: [] },
    ],
  ])
  const assigned = new Map(
    (await eventsOf(m, session_id, 'agent.task.assigned')).map(({ payload }) => [payload.taskId, payload]),
  )
  expect(assigned.get('shout')?.input).toMatchObject({
    task_id: 'shout',
    constraints: { scope: ['shout.mjs', 'shout.test.mjs'], testing_required: true },
  })
  expect(assigned.get('shout-rev1')?.input).toMatchObject({
    context: {
      previous_attempts: [
        {
          attempt_number: 1,
          outcome: 'changes_requested',
          feedback: expect.stringContaining("shout('') returns '!'"),
        },
      ],
    },
  })
  expect(assigned.get('review-1')?.input).toMatchObject({ criteria: { must_pass_tests: true } })
  // Each task by itself, and each review of the whole.
  expect((await eventsOf(m, session_id, 'test.passed')).map(({ taskId }) => taskId ?? '').toSorted()).toEqual(
    ['', '', 'farewell', 'shout', 'shout-rev1'],
  )
  expect(await eventsOf(m, session_id, 'verifier.issue.found')).toHaveLength(1)
  const [root, ...spawned] = await eventsOf(m, session_id, 'agent.spawned')
  expect(root).toMatchObject({ payload: { agentId: 'architect', agentType: 'architect' } })
  expect(spawned).toHaveLength(5)
  for (const event of spawned)
    expect(event).toMatchObject({
      parentSpanId: expect.any(String),
      parentRunId: root?.runId,
      payload: { agentId: expect.any(String), agentTask: expect.any(String) },
    })
  const ofAgents = (await m.events(session_id)).filter(
    ({ type, spanId }) => type.startsWith('agent.') && spanId !== root?.spanId,
  )
  // The architect has one run, and is asked in it: for the plan, about the round, and for the report.
  const asked = ofAgents.filter(
    ({ type, payload }) =>
      type === 'agent.message.created' && /:question:/.test((payload as { messageId: string }).messageId),
  )
  expect(asked.map(({ runId, phase }) => [runId, phase])).toEqual([
    [root?.runId, 'analyze'],
    [root?.runId, 'iterate'],
    [root?.runId, 'complete'],
  ])
  const decisions = await ofCrew('decision.made')
  expect(
    decisions
      .filter(({ payload }) => payload.subject === 'approach')
      .map(({ actor, payload }) => [actor, payload.choice]),
  ).toEqual([['architect', 'revise']])
  for (const event of ofAgents)
    expect(event, event.type).toMatchObject({ workflowId: workflow_id, phase: expect.any(String) })
  const [end] = await eventsOf(m, session_id, 'workflow.finalized')
  const agents = (await eventsOf(m, session_id, 'agent.completed')).filter(isOfMember)
  expect(end?.payload).toMatchObject({ workflowId: workflow_id, durationMs: expect.any(Number) })
  expect(end?.payload.totalAgents).toBe(agents.length + 1)
  const used = (await ofCrew('llm.request.completed')).map(({ payload }) => tokenTotal(payload.usage))
  expect(end?.payload.totalTokens).toBe(used.reduce((sum, tokens) => sum + tokens, 0))
})

test('[COL-66][MUS-368] a plan that a person refuses ends the crew as rejected, and nothing was begun', async () => {
  const m = await crewDaemon()
  const { workflow_id, session_id } = await m.crew(demonstrationRequest, { approve_plan: true })
  const asked = await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  expect(asked.approvals).toMatchObject([
    {
      subject: 'plan',
      action: expect.stringMatching(/farewell[^]*Estimate: 3 to 9 agents after this plan, up to 2 at once/),
    },
  ])
  // The question outlives the daemon.
  await m.kill()
  await m.until(workflow_id, ({ status, approvals }) => status === 'running' && approvals.length === 1)
  await m.client().decideApproval({ id: session_id, verdict: 'deny', scope: 'once', reason: 'too much' })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({ status: 'rejected', detail: 'the plan was not approved: too much' })
  expect(await eventsOf(m, session_id, 'agent.task.assigned')).toEqual([])
  expect(await eventsOf(m, session_id, 'workflow.created')).toHaveLength(1)
  // That it begins was approved, and its plan was not.
  expect(await eventsOf(m, session_id, 'workflow.approved')).toHaveLength(1)
  expect(await eventsOf(m, session_id, 'approval.rejected')).toMatchObject([{ payload: { subject: 'plan' } }])
  expect(m.git('status', '--porcelain')).toBe('')
})

test('[MUS-275] a cancel ends every agent of a crew at once, with one end each, and keeps what was done', async () => {
  const m = await crewDaemon()
  const { workflow_id, session_id } = await m.crew(demonstrationRequest)
  await eventually(
    () => eventsOf(m, session_id, 'patch.created'),
    (all) => all.some(({ payload }) => payload.files.some(({ path }) => path === 'farewell.mjs')),
  )
  const flow = await m.client().cancelWorkflow({ id: workflow_id, reason: 'enough' })
  expect(flow).toMatchObject({ status: 'cancelled', detail: 'enough' })
  const session = await eventually(
    () => m.client().getSession({ id: session_id }),
    ({ status }) => status === 'cancelled',
  )
  expect(session.status).toBe('cancelled')
  const spawned = await eventsOf(m, session_id, 'agent.spawned')
  const all = await m.events(session_id)
  for (const { spanId } of spawned) {
    const ends = all.filter(
      (event) =>
        event.spanId === spanId && /^agent\.(completed|failed|cancelled|killed|abandoned)$/.test(event.type),
    )
    expect(ends).toHaveLength(1)
  }
  await expect(m.client().cancelWorkflow({ id: workflow_id })).rejects.toMatchObject({ code: 'conflict' })
  // Its work trees are gone, and what was in them is on branches.
  await eventually(
    async () => m.git('worktree', 'list').trim().split('\n'),
    (all) => all.length === 1,
  )
  expect(m.git('show', `muster/${workflow_id}.farewell:farewell.mjs`)).toContain('Goodbye')
})

test('[MUS-170] a cancel reaches the program that a tool of a crew runs, and each call and agent has one end', async () => {
  const seconds = 600 + Math.floor(process.pid % 1000)
  const m = await crewDaemon({
    parts: [{ when: '"task_id": "request"', steps: [bash(`sleep ${seconds}`)] }],
  })
  const { workflow_id, session_id } = await m.crew('Wait. SCRIPT=play', { crew: 'solo' })
  const sleeping = () =>
    readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => commandOf(pid) === `sleep\0${seconds}\0`)
  await eventually(
    async () => sleeping(),
    ({ length }) => length === 1,
  )
  await m.client().cancelWorkflow({ id: workflow_id, reason: 'enough' })
  await eventually(
    async () => sleeping(),
    ({ length }) => length === 0,
  )
  await eventually(
    () => m.client().getSession({ id: session_id }),
    ({ status }) => status === 'cancelled',
  )
  const events = await m.events(session_id)
  const agentEnds = /^agent\.(completed|failed|cancelled|killed|abandoned)$/
  const ofAgents = events.filter(({ type }) => agentEnds.test(type))
  expect(ofAgents.filter(isOfMember).map(({ type }) => type)).toEqual(['agent.cancelled'])
  expect(ofAgents.filter((event) => !isOfMember(event)).map(({ type }) => type)).toEqual(['agent.cancelled'])
  const types = events.map(({ type }) => type)
  const ends = (pattern: RegExp) => types.filter((type) => pattern.test(type))
  expect(ends(/^tool\.call\./)).toEqual(['tool.call.started', expect.stringMatching(/failed|completed/)])
  expect(ends(/^workflow\.(finalized|failed|cancelled)$/)).toEqual(['workflow.cancelled'])
})

test('[MUS-275] a crew that was called off cannot be forked, and what a kill left of it is put away at the next start', async () => {
  const m = await crewDaemon({ parts: [{ when: '"task_id": "request"', steps: [bash('sleep 600')] }] })
  const { workflow_id } = await m.crew('Wait. SCRIPT=play', { crew: 'solo' })
  await m.client().cancelWorkflow({ id: workflow_id, reason: 'enough' })
  // Its places belong to this run, so it cannot be forked, and no session is begun in vain.
  const { sessions } = await m.client().listSessions({})
  await expect(m.client().forkWorkflow({ id: workflow_id })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('start another: sm crew'),
  })
  expect((await m.client().listSessions({})).sessions).toHaveLength(sessions.length)
  // What a kill left of them is put away at the next start.
  const late = join(m.home, 'worktrees', `${workflow_id}.late`)
  m.git('worktree', 'add', late, '-b', `muster/${workflow_id}.late`)
  writeFileSync(join(late, 'late.txt'), 'in no commit')
  await m.kill()
  await eventually(
    async () => m.git('worktree', 'list').trim().split('\n'),
    (all) => all.length === 1,
  )
  expect(m.git('show', `muster/${workflow_id}.late:late.txt`)).toBe('in no commit')
})

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
