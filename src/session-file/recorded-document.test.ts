import { expect, test } from 'vitest'
import { EventStream, runIdOf, sessionIdOf, spanIdOf } from '../../test/support/events.ts'
import { collaboration, developer, fileOf, reviewer } from '../../test/support/std-008-file.ts'
import { LiveSession, verdictOn } from '../../test/support/std-008-live.ts'

test('[LOG-60, LOG-61, LOG-62, LOG-63, LOG-64, LOG-65] the figures are counted, and reviews are no tasks', () => {
  const live = collaboration()
  live.add(live.main, 'result.summary', { toolCallsCount: 999, summary: 'I did a thousand things' })
  live.complete()
  const { summary } = fileOf(live.events).document
  expect(summary).toMatchObject({
    tool_calls_count: 6,
    tasks: { total: 2, completed: 2, failed: 0 },
    review_iterations: 2,
    final_verdict: 'approved',
    agents: {
      architect: { agent_id: 'boss', tool_calls_count: 6, status: 'completed' },
      developers: [
        { agent_id: 'dev-A', tool_calls_count: 2 },
        { agent_id: 'dev-B', tool_calls_count: 2 },
      ],
      reviewer: { agent_id: 'rev', tool_calls_count: 2 },
    },
  })
})

test('[LOG-63, LOG-64] rounds of the review loop count, and a last verdict that is not final stands beside', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'a', agent: developer('A') })
  live.delegate(live.main, { id: 'b', agent: reviewer, output: verdictOn('A', 'changes_requested') })
  live.add(live.main, 'loop.round.completed', { round: 1, verdict: 'changes_requested', taskId: 'A' })
  const { summary } = fileOf(live.events).document
  expect(summary).toMatchObject({ review_iterations: 1, last_verdict: 'changes_requested' })
  expect(summary).not.toHaveProperty('final_verdict')
})

test('[LOG-60] further reviewers and architects stand beside the ones the format names', () => {
  const live = new LiveSession()
  live.delegate(live.main, {
    id: 'a',
    agent: { ...reviewer, agentId: 'rev-1' },
    output: verdictOn('check', 'approved', 'r1'),
  })
  live.delegate(live.main, {
    id: 'b',
    agent: { ...reviewer, agentId: 'rev-2' },
    output: verdictOn('check', 'approved', 'r2'),
  })
  live.delegate(live.main, { id: 'c', agent: { agentId: 'arch-2', agentType: 'architect' } })
  const { agents } = fileOf(live.events).document.summary
  expect([agents.reviewer?.agent_id, agents.reviewers?.[0]?.agent_id, agents.others?.[0]?.agent_id]).toEqual([
    'rev-2',
    'rev-1',
    'arch-2',
  ])
})

test('[LOG-53, LOG-55] findings raised as events stand in the review, and a missing test is a bug', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'a', agent: developer('A') })
  const judge = live.spawn(live.main, reviewer)
  live.add(judge, 'verifier.issue.found', {
    findingId: 'F1',
    severity: 'major',
    category: 'test',
    file: 'a.ts',
    line: 3,
    description: 'no test',
  })
  live.end(judge, 'completed', { output: verdictOn('A', 'changes_requested') })
  expect(fileOf(live.events).document.sub_sessions[1]?.output).toMatchObject({
    findings: [
      {
        finding_id: 'F1',
        severity: 'major',
        category: 'bug',
        original_category: 'test',
        file: 'a.ts',
        line: 3,
        description: 'no test',
      },
    ],
  })
})

test('[LOG-25] output in no known shape is kept as it is', () => {
  const live = new LiveSession()
  for (const [id, output] of [
    ['a', { answer: 42 }],
    ['b', 'a text'],
    ['c', [1, 2]],
  ] as const)
    live.delegate(live.main, { id, agent: developer(id), output })
  const { sub_sessions: subs } = fileOf(live.events).document
  expect(subs.map((sub) => sub.original_output)).toEqual([{ answer: 42 }, 'a text', [1, 2]])
})

test('[LOG-68] tokens are summed by response, the last figure for one winning', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'a', agent: developer('A') })
  const run = live.spawn(live.main, developer('B'))
  const usage = (input: number) => ({ input, output: 10 })
  live.add(run, 'llm.request.completed', { responseId: 'r1', model: 'm', usage: usage(100) })
  live.add(run, 'llm.request.completed', { responseId: 'r1', model: 'm', usage: usage(100) })
  live.add(run, 'llm.request.completed', { responseId: 'r2', model: 'm', usage: usage(5) })
  live.add(run, 'llm.usage.corrected', { responseId: 'r2', usage: usage(50) })
  live.end(run, 'completed', { tokens: 9999 })
  expect(fileOf(live.events).document.tool_calls.map((each) => each.subagent_info?.tokens_used)).toEqual([
    undefined,
    170,
  ])
})

test('[LOG-118, LOG-117] more than twenty calls that nobody annotated are grouped by what they are for', () => {
  const annotated = (calls: number) => {
    const live = new LiveSession()
    for (let i = 0; i < calls; i++) live.call(live.main, { id: `c${i}`, tool: i < 10 ? 'Read' : 'Edit' })
    live.complete()
    return fileOf(live.events).document.phase_annotations
  }
  expect(annotated(20)).toBeUndefined()
  expect(annotated(21)).toMatchObject([
    {
      phase_type: 'explore',
      tool_call_range: { start_call_id: 'c0', end_call_id: 'c9' },
      annotated_by: 'auto',
      confidence: 'low',
    },
    {
      phase_type: 'execute',
      tool_call_range: { start_call_id: 'c10', end_call_id: 'c20' },
      annotated_by: 'auto',
      confidence: 'low',
    },
  ])
})

test('[LOG-117] calls an agent annotated keep its annotation', () => {
  const live = new LiveSession()
  for (let i = 0; i < 30; i++) live.call(live.main, { id: `c${i}`, tool: 'Read' })
  live.add(live.main, 'session.annotated', {
    annotationId: 'auto-001',
    phaseType: 'verify',
    startCallId: 'c0',
    endCallId: 'c4',
    annotatedBy: 'agent',
    annotatedAt: '2026-03-01T12:00:00.000Z',
    confidence: 'high',
  })
  const { phase_annotations: annotations } = fileOf(live.events).document
  expect(
    annotations?.map((each) => [each.annotation_id, each.phase_type, each.tool_call_range.start_call_id]),
  ).toEqual([
    ['auto-001', 'verify', 'c0'],
    ['auto-phase-001', 'explore', 'c5'],
  ])
})

test('[LOG-106] files come from patches where there are any, else from the calls that wrote them', () => {
  const live = new LiveSession()
  live.call(live.main, { id: 'r', tool: 'Read', params: { file_path: 'old.ts' } })
  live.call(live.main, { id: 'w', tool: 'Write', params: { file_path: 'new.ts' } })
  live.call(live.main, { id: 'x', tool: 'Write', params: { file_path: 'old.ts' } })
  live.call(live.main, { id: 'f', tool: 'Edit', params: { file_path: 'not.ts' }, end: 'failed' })
  expect(fileOf(live.events).document.summary).toMatchObject({
    files_created: ['new.ts'],
    files_modified: ['old.ts'],
    errors_encountered: 1,
  })
  live.add(live.main, 'patch.created', {
    files: [
      { path: 'p.ts', change: 'created' },
      { path: 'q.ts', change: 'modified' },
    ],
  })
  expect(fileOf(live.events).document.summary).toMatchObject({
    files_created: ['p.ts'],
    files_modified: ['q.ts'],
  })
})

test('[LOG-142] a session without a prompt of its own is about what it was asked first, and further turns are its own', () => {
  const turns = new EventStream({ sessionId: sessionIdOf(1) })
  turns.add('session.started', { name: 'boss-1749a2fe', origin: 'runtime' })
  const asked = ['Fix the login.\n\nIt fails on Mondays.', 'Now the logout.']
  for (const [n, agentTask] of asked.entries()) {
    const at = { runId: runIdOf(n + 5), spanId: spanIdOf(n + 5), parentSpanId: spanIdOf(0) }
    const inside = { ...at, spanId: spanIdOf(n + 15), parentSpanId: at.spanId }
    turns.add('agent.spawned', { agentId: 'boss', agentType: 'boss', kind: 'main', agentTask }, at)
    turns.add('tool.call.started', { callId: `c${n}`, tool: 'Read' }, inside)
    turns.add('tool.call.completed', { callId: `c${n}`, tool: 'Read' }, inside)
    turns.add('agent.completed', { agentId: 'boss' }, at)
  }
  const { document, kind, filename } = fileOf(turns.events)
  expect(document).toMatchObject({ task_title: 'Fix the login.', user_prompt: asked[0], status: 'success' })
  expect([kind, filename]).toEqual(['std-001', '2026-03-01-003-fix-the-login.json'])
  expect(document.tool_calls.map((each) => each.call_id)).toEqual(['c0', 'c1'])
})

test('[LOG-142] a name is the title of a session only while nothing was asked; its own title counts first', () => {
  const titled = (started: object) => {
    const live = new LiveSession({ title: '', prompt: '', ...started })
    return fileOf(live.events).document.task_title
  }
  expect(titled({ name: 'shell-1' })).toBe('shell-1')
  expect(titled({ name: 'engineer-1', prompt: `  ${'🙂'.repeat(130)}\nmore` })).toBe('🙂'.repeat(120))
  expect(titled({ name: 'crew-1', prompt: 'Add login', title: 'Login' })).toBe('Login')
})

test('[LOG-142] several main agents that take turns in one session are one participant each', () => {
  const live = new LiveSession({ agent: { agentId: 'boss', agentType: 'architect' } })
  const turn = (n: number, agentId: string) => {
    const at = {
      ...live.main,
      agentId,
      runId: runIdOf(n),
      spanId: spanIdOf(n),
      parentSpanId: live.main.spanId,
    }
    live.add(at, 'agent.spawned', { agentId, agentType: agentId, kind: 'main', agentTask: `turn ${n}` })
    live.call(at, { id: `c${n}`, tool: 'Read' })
    live.add(at, 'agent.completed', { agentId })
  }
  for (const [n, agentId] of ['boss', 'other', 'boss', 'other', 'third'].entries()) turn(n + 20, agentId)
  const { document } = fileOf(live.events)
  expect(document.sub_sessions.map((sub) => [sub.agent.agent_id, sub.tool_calls.length])).toEqual([
    ['other', 2],
    ['third', 1],
  ])
})

test('[LOG-112, LOG-113, LOG-114] what a tool is for is what the format says of it, whatever the journal has', () => {
  const live = new LiveSession()
  const call = (tool: string, category: 'action' | 'planning' | 'task_management', params = {}) => {
    const span = spanIdOf(40 + tool.length)
    live.add(live.main, 'tool.call.started', { callId: tool, tool, category, params }, span)
    live.add(live.main, 'tool.call.completed', { callId: tool, tool }, span)
  }
  call('TaskCreate', 'planning')
  call('AskUserQuestion', 'action')
  call('Bash', 'action', { command: 'git status' })
  call('Blackboard', 'task_management')
  const categories = fileOf(live.events).document.tool_calls.map((each) => each.tool_category)
  expect(categories).toEqual(['task_management', 'interaction', 'perception', 'task_management'])
})

test('[LOG-92, LOG-12] a Task that was denied or failed before anybody began makes no sub-session', () => {
  const live = new LiveSession()
  live.call(live.main, { id: 'broken', tool: 'Task', end: 'failed' })
  const denied = (id: string, n: number) => {
    live.add(
      live.main,
      'tool.call.started',
      { callId: id, tool: 'Task', params: { prompt: 'x' } },
      spanIdOf(n),
    )
    const why = { callId: id, tool: 'Task', gate: 'delegation', reason: 'not allowed' } as const
    live.add(live.main, 'tool.call.denied', why, spanIdOf(n))
  }
  denied('a', 60)
  denied('b', 61)
  expect(fileOf(live.events)).toMatchObject({ kind: 'std-001' })
  for (const id of ['C', 'D']) live.delegate(live.main, { id, agent: developer(id) })
  const { document, kind } = fileOf(live.events)
  expect(kind).toBe('std-008')
  expect(document.sub_sessions.map((sub) => sub.triggered_by_call_id)).toEqual(['C', 'D'])
  expect(document.summary.tasks).toEqual({ total: 2, completed: 2, failed: 0 })
  expect(document.tool_calls.find(({ call_id }) => call_id === 'a')).toMatchObject({
    tool_category: 'interaction',
    output: { status: 'failed', error: 'denied (delegation): not allowed' },
  })
})
