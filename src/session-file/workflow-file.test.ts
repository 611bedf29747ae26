import { expect, test } from 'vitest'
import { runIdOf, spanIdOf } from '../../test/support/events.ts'
import { fileOf } from '../../test/support/std-008-file.ts'
import { type LiveRun, LiveSession, verdictOn } from '../../test/support/std-008-live.ts'

const architect = { agentId: 'architect', agentType: 'architect' }
const worker = (n: number) => ({ agentId: `developer-${n}`, agentType: 'developer' })
const judge = { agentId: 'reviewer', agentType: 'reviewer' }

const workDone = (task_id: string, status: string) => ({
  task_id,
  status,
  changes: {
    files_created: [{ path: `${task_id}.ts`, change_type: 'created', lines_added: 2, lines_removed: 0 }],
    files_modified: [],
    files_deleted: [],
  },
  summary: `${task_id} is ${status}`,
})

/** A workflow that records its protocol, as a crew does. */
class LiveCrew extends LiveSession {
  #said = 0

  constructor() {
    const collaboration = { mode: 'multi_agent', pattern: 'master_worker', orchestrator: architect } as const
    super({ origin: 'workflow', agent: architect, collaboration: { ...collaboration, participants: [] } })
  }

  say(from: typeof judge, to: typeof judge, type: string, payload: unknown, replyTo?: string): string {
    const n = ++this.#said
    const messageId = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    this.add(this.main, 'agent.message.created', {
      messageId,
      sequenceNumber: n,
      from,
      to,
      messageType: type as 'feedback',
      payload: payload as Record<string, unknown>,
      ...(replyTo && { replyTo }),
    })
    return messageId
  }

  /** Hands out a task under a span of its own. */
  assign(n: number, taskId: string, dependencies: string[] = []): LiveRun {
    const task: LiveRun = {
      ...this.main,
      spanId: spanIdOf(1000 + this.events.length),
      parentSpanId: this.main.spanId,
    }
    const { agentId } = worker(n)
    const input = { task_id: taskId, task_description: `do ${taskId}` }
    this.add(task, 'agent.task.assigned', {
      taskId,
      description: `do ${taskId}`,
      priority: 'high',
      dependencies,
      agentId,
      input,
    })
    const asked = this.say(architect, worker(n), 'task_assignment', { task: input, priority: 'high' })
    const accepted = { acknowledged_message_id: asked, accepted: true }
    this.say(worker(n), architect, 'acknowledgment', accepted, asked)
    return task
  }

  report(task: LiveRun, n: number, output: { task_id: string; status: string }): void {
    if (output.status === 'failed')
      this.add(task, 'task.failed', { agentId: worker(n).agentId, reason: 'outside of its scope' })
    else this.add(task, 'task.completed', { agentId: worker(n).agentId })
    this.say(worker(n), architect, 'task_completion', output)
  }
}

test('[COL-36, COL-37] a workflow is a multi-agent file from the first agent on, and its architect is the session', () => {
  const live = new LiveCrew()
  const plan = live.spawn(live.main, { ...architect, kind: 'main' })
  live.call(plan, { id: 'look', tool: 'Read' })
  live.end(plan, 'completed', { output: { type: 'none', text: 'a plan' } })
  expect(fileOf(live.events)).toMatchObject({ kind: 'std-001', document: { status: 'in_progress' } })
  const task = live.assign(1, 'A')
  const run = live.spawn({ ...live.main, spanId: task.spanId }, worker(1))
  const names = [fileOf(live.events).filename]
  live.end(run, 'completed')
  live.report(task, 1, workDone('A', 'completed'))
  const { document } = fileOf(live.events)
  expect(document.collaboration).toEqual({
    mode: 'multi_agent',
    pattern: 'master_worker',
    orchestrator: { agent_id: 'architect', agent_type: 'architect' },
    participants: [{ agent_id: 'developer-1', agent_type: 'developer' }],
  })
  expect(document.tool_calls.map((call) => call.tool_name)).toEqual(['Read', 'Task'])
  expect(document.status).toBe('in_progress')
  live.complete()
  const last = fileOf(live.events)
  expect(last.document.status).toBe('success')
  expect([...names, last.filename]).toEqual(Array(2).fill('2026-03-01-003-add-login-multi.json'))
})

test('[COL-39, COL-40, COL-61] each attempt at a task is a sub-session with the report of that attempt', () => {
  const live = new LiveCrew()
  for (const status of ['failed', 'completed']) {
    const task = live.assign(1, 'A', [])
    const run = live.spawn({ ...live.main, spanId: task.spanId }, worker(1))
    live.call(run, { id: `write-${status}`, tool: 'Write', params: { file_path: 'A.ts' } })
    live.end(run, 'completed', { output: { type: 'none', text: 'my own words' } })
    const files = [{ path: 'A.ts', change: 'created' as const }]
    live.add(task, 'patch.created', { files })
    live.report(task, 1, workDone('A', status))
  }
  const next = live.assign(2, 'B', ['A'])
  live.spawn({ ...live.main, spanId: next.spanId }, worker(2))
  const { document } = fileOf(live.events)
  expect(
    document.sub_sessions.map(({ agent, task, status, termination_reason, output }) => [
      agent.agent_id,
      task,
      status,
      termination_reason,
      output,
    ]),
  ).toEqual([
    [
      'developer-1',
      { task_id: 'A', description: 'do A', priority: 'high', dependencies: [] },
      'failed',
      'error: outside of its scope',
      workDone('A', 'failed'),
    ],
    [
      'developer-1',
      { task_id: 'A', description: 'do A', priority: 'high', dependencies: [] },
      'success',
      undefined,
      workDone('A', 'completed'),
    ],
    [
      'developer-2',
      { task_id: 'B', description: 'do B', priority: 'high', dependencies: ['A'] },
      'in_progress',
      undefined,
      undefined,
    ],
  ])
  expect(document.summary.tasks).toEqual({ total: 2, completed: 1, failed: 0 })
  expect(document.summary.files_created).toEqual(['A.ts'])
})

test('[COL-49] what was said stands in the file as it was said, and nothing is put in beside it', () => {
  const live = new LiveCrew()
  const task = live.assign(1, 'A')
  const run = live.spawn({ ...live.main, spanId: task.spanId }, worker(1))
  live.delegate(run, { id: 'helper', agent: { agentId: 'scout', agentType: 'Explore' }, calls: ['Read'] })
  live.add(run, 'agent.message.created', {
    messageId: `${run.runId}:answer`,
    from: worker(1),
    to: { agentId: 'user', agentType: 'user' },
    text: 'done',
  })
  live.end(run, 'completed')
  live.report(task, 1, workDone('A', 'completed'))
  const { document } = fileOf(live.events)
  expect(
    document.messages.map(({ message_type, sequence_number }) => [message_type, sequence_number]),
  ).toEqual([
    ['task_assignment', 1],
    ['acknowledgment', 2],
    ['task_completion', 3],
  ])
  const named = document.collaboration.participants.map(({ agent_id }) => agent_id)
  expect(named).toEqual(['developer-1', 'scout'])
})

test('[COL-53, COL-56] an agent program is one sub-session over all its turns, under the name of its task', () => {
  const live = new LiveCrew()
  const task = live.assign(1, 'A')
  const child: LiveRun = {
    sessionId: 'ses_00000000000000000000000002' as never,
    runId: 'run_00000000000000000000000042' as never,
    spanId: spanIdOf(500),
    parentSpanId: task.spanId,
    agentId: 'claude-1',
  }
  live.stream.add(
    'session.started',
    { origin: 'managed', parentSessionId: live.main.sessionId, agent: worker(1), name: 'claude-1' },
    { ...child, actor: 'crew', workflowId: 'crew-1', taskId: 'A' } as never,
  )
  for (const turn of [1, 2]) {
    const run: LiveRun = { ...child, runId: runIdOf(50 + turn), spanId: spanIdOf(600 + turn) }
    const at = { ...run, parentSpanId: child.spanId }
    live.add(at, 'agent.spawned', { agentId: 'claude-1', agentType: 'developer', kind: 'main' })
    live.call(run, { id: `call-${turn}`, tool: 'Edit' })
    live.end(at, 'completed', { detail: 'done' })
  }
  const [working] = fileOf(live.events).document.sub_sessions
  live.add(child, 'session.completed', { outcome: 'completed' })
  live.report(task, 1, workDone('A', 'completed'))
  const { document } = fileOf(live.events)
  expect(working).toMatchObject({ agent: { agent_id: 'developer-1' } })
  expect(document.sub_sessions).toHaveLength(1)
  expect(document.sub_sessions[0]).toMatchObject({
    agent: { agent_id: 'developer-1', agent_type: 'developer' },
    task: { task_id: 'A', description: 'do A' },
    status: 'success',
    output: workDone('A', 'completed'),
  })
  expect(document.sub_sessions[0]?.tool_calls.map((call) => call.call_id)).toEqual(['call-1', 'call-2'])
  expect(document.tool_calls).toMatchObject([
    {
      tool_name: 'Task',
      input: { params: { input: { task_id: 'A' } } },
      subagent_info: { sub_session_id: document.sub_sessions[0]?.sub_session_id, tool_uses: 2 },
    },
  ])
  expect(document.status).toBe('in_progress')
})

test('[COL-47] a review is the output of whoever gave it, and the workflow goes on after it', () => {
  const live = new LiveCrew()
  const first = live.assign(1, 'A')
  live.end(live.spawn({ ...live.main, spanId: first.spanId }, worker(1)), 'completed')
  live.report(first, 1, workDone('A', 'completed'))
  const task: LiveRun = { ...live.main, spanId: spanIdOf(900), parentSpanId: live.main.spanId }
  live.add(task, 'agent.task.assigned', { taskId: 'r1', description: 'Review', agentId: 'reviewer' })
  live.say(architect, judge, 'review_request', { review_id: 'r1', task_id: 'A' })
  live.end(live.spawn({ ...live.main, spanId: task.spanId }, judge), 'completed')
  live.say(judge, architect, 'review_result', verdictOn('A', 'approved', 'r1'))
  const { document } = fileOf(live.events)
  expect(document.sub_sessions[1]).toMatchObject({
    task: { task_id: 'r1' },
    output: verdictOn('A', 'approved', 'r1'),
  })
  expect(document).toMatchObject({
    status: 'in_progress',
    summary: { review_iterations: 1, final_verdict: 'approved' },
  })
})
