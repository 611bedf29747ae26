import { expect, test } from 'vitest'
import { EventStream, sessionIdOf, spanIdOf, startMs, traceIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { TaskRow } from '../../contract/index-rows.ts'

const agent = (agentId: string) => ({ agentId, agentType: 'developer' })

function tasksOf(events: readonly AgentEvent[], filter = {}): TaskRow[] {
  using place = new TempIndex()
  using index = place.queries(events)
  return index.tasks(filter)
}

test('[OBS-11, OBS-21] a task goes from planned to assigned to its end', () => {
  const stream = new EventStream()
  stream.add('plan.created', {
    plan: 'first a, then b',
    tasks: [
      { taskId: 'a', description: 'do a', priority: 'high' },
      { taskId: 'b', description: 'do b', dependencies: ['a'] },
    ],
  })
  expect(tasksOf(stream.events)).toMatchObject([
    {
      taskId: 'a',
      status: 'planned',
      description: 'do a',
      priority: 'high',
      dependencies: [],
      assignments: 0,
    },
    { taskId: 'b', status: 'planned', dependencies: ['a'], agentId: null },
  ])
  stream.add('agent.task.assigned', {
    taskId: 'b',
    description: 'do b well',
    agentId: 'dev',
    assignedBy: 'lead',
  })
  stream.add('loop.round.completed', { round: 1, verdict: 'changes_requested' }, { taskId: 'b' })
  stream.add('agent.task.assigned', { taskId: 'b', description: 'again', agentId: 'dev2' }, { taskId: 'b' })
  stream.add('loop.round.completed', { round: 2, verdict: 'approved', taskId: 'b' })
  stream.add('task.completed', { summary: 'b is done' }, { taskId: 'b', sessionId: sessionIdOf(7) })
  expect(tasksOf(stream.events)[1]).toMatchObject({
    status: 'completed',
    description: 'again',
    agentId: 'dev2',
    assignedBy: 'lead',
    assignments: 2,
    assignedMs: startMs + 2000,
    endedMs: startMs + 6000,
    round: 2,
    verdict: 'approved',
    summary: 'b is done',
    // It belongs to the session that gave it, whoever reports its end.
    sessionId: sessionIdOf(1),
  })
})

test('[MUS-70] task ids may recur in other traces; an end without an id has no row', () => {
  const stream = new EventStream()
  const work = { taskId: 't', description: 'work', agentId: 'dev' }
  stream.add('agent.task.assigned', work)
  stream.add('agent.task.assigned', work, { traceId: traceIdOf(1), sessionId: sessionIdOf(2) })
  stream.add('task.failed', { reason: 'no', errorType: 'timeout' }, { taskId: 't', traceId: traceIdOf(1) })
  stream.add('task.cancelled', {})
  expect(tasksOf(stream.events)).toMatchObject([
    { traceId: traceIdOf(0), status: 'assigned' },
    { traceId: traceIdOf(1), status: 'failed', summary: 'no', errorType: 'timeout' },
  ])
  expect(tasksOf(stream.events, { traceId: traceIdOf(1) })).toHaveLength(1)
  expect(tasksOf(stream.events, { sessionId: sessionIdOf(1) })).toHaveLength(1)
  expect(tasksOf(stream.events, { status: 'failed' })).toHaveLength(1)
  expect(tasksOf(stream.events, { after: 1 })).toHaveLength(1)
})

test('[MUS-190] a message keeps what was said and how far it got, and is found by id and thread', () => {
  const stream = new EventStream()
  stream.add('agent.message.created', {
    messageId: 'm1',
    from: agent('lead'),
    to: agent('dev'),
    messageType: 'task_assignment',
    text: 'please',
    correlationId: 'thread',
    sequenceNumber: 4,
  })
  stream.add('message.queued', { messageId: 'm1', to: 'dev', mode: 'urgent', preview: 'other' })
  stream.add('message.delivered', { messageId: 'm1', attempt: 2, stage: 'pasted' })
  stream.add('message.accepted', { messageId: 'm1', proof: 'hook' })
  stream.add('message.queued', {
    messageId: 'm2',
    to: 'dev',
    from: 'operator',
    preview: 'hello',
    vault: 'sha256:x',
  })
  stream.add('message.failed', { messageId: 'm2', errorType: 'gone', retryCount: 3 })
  stream.add('message.queued', { messageId: 'm1', to: 'x' }, { sessionId: sessionIdOf(2) })
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.messages({ sessionId: sessionIdOf(1) })).toMatchObject([
    {
      seq: 1,
      messageId: 'm1',
      fromAgent: 'lead',
      toAgent: 'dev',
      messageType: 'task_assignment',
      preview: 'please',
      mode: 'urgent',
      state: 'accepted',
      attempts: 2,
      createdMs: startMs + 1000,
      queuedMs: startMs + 2000,
      deliveredMs: startMs + 3000,
      acceptedMs: startMs + 4000,
      failedMs: null,
      sequenceNumber: 4,
    },
    {
      messageId: 'm2',
      fromAgent: 'operator',
      preview: 'hello',
      state: 'failed',
      detail: 'gone',
      attempts: 3,
    },
  ])
  expect(index.messages({ messageId: 'm1' }).map((row) => row.sessionId)).toEqual([
    sessionIdOf(1),
    sessionIdOf(2),
  ])
  expect(index.messages({ correlationId: 'thread' })).toHaveLength(1)
  expect(index.messages({ messageType: 'task_assignment' })).toHaveLength(1)
  expect(index.messages({ after: 1, limit: 1 })).toMatchObject([{ messageId: 'm2' }])
  expect(index.messages({ before: 5 })).toHaveLength(1)
})

test('[OBS-16, OBS-17] an approval is pending until its first answer, which stands', () => {
  const stream = new EventStream()
  const asked = {
    subject: 'tool',
    action: 'rm -rf build',
    risk: 'high',
    options: ['yes', 'no'] as string[],
    timeoutMs: 9,
  } as const
  stream.add('approval.requested', { approvalId: 'a', ...asked, askedOf: 'operator' })
  stream.add(
    'approval.requested',
    { approvalId: 'b', ...asked },
    { sessionId: sessionIdOf(2), spanId: spanIdOf(2) },
  )
  stream.add('approval.granted', { approvalId: 'a', subject: 'tool', by: 'operator:web', scope: 'once' })
  stream.add('approval.rejected', { approvalId: 'a', subject: 'tool', by: 'parent', latencyMs: 1 })
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.approvals({ isPending: true })).toMatchObject([
    {
      approvalId: 'b',
      action: 'rm -rf build',
      risk: 'high',
      options: ['yes', 'no'],
      decision: null,
      timeoutMs: 9,
    },
  ])
  expect(index.approvals({ isPending: false })).toMatchObject([
    { approvalId: 'a', decision: 'granted', decidedBy: 'operator:web', scope: 'once', latencyMs: 2000 },
  ])
  expect(index.approvals({ approvalId: 'a' })).toHaveLength(1)
  expect(index.approvals({ sessionId: sessionIdOf(2) })).toHaveLength(1)
})

test('[OBS-27] approval latency is p50 and p95 of the answers; pending ones are apart, and no answer is no figure', () => {
  using place = new TempIndex()
  using empty = place.queries([])
  expect(empty.approvalLatency({})).toEqual({ decided: 0, pending: 0, p50Ms: null, p95Ms: null })
  const stream = new EventStream()
  for (let i = 1; i <= 20; i++) {
    const approvalId = `a${i}`
    stream.add('approval.requested', { approvalId, subject: 'plan', action: 'go' }, { atMs: 0 })
    const by = 'operator'
    if (i % 2 === 0) stream.add('approval.granted', { approvalId, subject: 'plan', by }, { atMs: i * 100 })
    else stream.add('approval.rejected', { approvalId, subject: 'plan', by }, { atMs: i * 100 })
  }
  stream.add(
    'approval.requested',
    { approvalId: 'late', subject: 'plan', action: 'go' },
    { sessionId: sessionIdOf(2) },
  )
  stream.add('approval.requested', { approvalId: 'never', subject: 'plan', action: 'go' })
  stream.add('approval.expired', { approvalId: 'never', subject: 'plan' })
  using other = new TempIndex()
  using index = other.queries(stream.events)
  expect(index.approvalLatency({})).toEqual({ decided: 20, pending: 1, p50Ms: 1000, p95Ms: 1900 })
  expect(index.approvalLatency({ sessionId: sessionIdOf(2) })).toEqual({
    decided: 0,
    pending: 1,
    p50Ms: null,
    p95Ms: null,
  })
})

test('[MUS-275] a workflow is a row: its phase, its steps, and the first of its ends', () => {
  const stream = new EventStream()
  stream.add('workflow.started', { workflowId: 'w', name: 'crew', version: '1', inputDigest: 'd' })
  stream.add('workflow.phase.started', { workflowId: 'w', phase: 'plan', inputCount: 1 })
  for (const step of ['a', 'b'])
    stream.add('workflow.checkpoint.saved', { workflowId: 'w', phase: 'plan', stateBytes: 1, step })
  stream.add('workflow.failed', { workflowId: 'w', error: 'no\nway', totalAgents: 2, totalTokens: 30 })
  stream.add('workflow.cancelled', { workflowId: 'w', reason: 'late' })
  stream.add('workflow.cancelled', { workflowId: 'foreign', reason: 'late' }, { sessionId: sessionIdOf(2) })
  using place = new TempIndex()
  using index = place.queries(stream.events)
  expect(index.workflows({})).toMatchObject([
    { workflowId: 'foreign', status: 'cancelled', detail: 'late', steps: 0, name: null },
    {
      workflowId: 'w',
      name: 'crew',
      version: '1',
      status: 'failed',
      phase: 'plan',
      steps: 2,
      totalAgents: 2,
      totalTokens: 30,
      inputDigest: 'd',
      detail: 'no way',
    },
  ])
  expect(index.workflows({ workflowId: 'w' })).toHaveLength(1)
  expect(index.workflows({ sessionId: sessionIdOf(2) })).toHaveLength(1)
  expect(index.workflows({ status: 'running' })).toEqual([])
})

test('[MUS-368] work that a person does not land is not done, and the row of its crew says so', () => {
  const stream = new EventStream()
  const figures = { totalTokens: 1, totalAgents: 1, durationMs: 1 }
  for (const crew of ['landed', 'left', 'of-old']) {
    stream.add('workflow.started', { workflowId: crew, name: 'crew' })
    stream.add('workflow.finalized', {
      workflowId: crew,
      ...figures,
      result: { report: { outcome: crew === 'of-old' ? 'unapproved' : 'approved', summary: 'Not good.' } },
    })
  }
  stream.add('workflow.finalized', { workflowId: 'landed.land', ...figures, result: { landed: 'c0ffee' } })
  stream.add('workflow.failed', { workflowId: 'left.land', error: 'not now', outcome: 'rejected' })
  using place = new TempIndex()
  using index = place.queries(stream.events)
  const found = (workflowId: string) => index.workflows({ workflowId })
  expect(found('landed')).toMatchObject([{ status: 'completed', detail: null }])
  expect(found('left')).toMatchObject([{ status: 'rejected', detail: 'not now', totalAgents: 1 }])
  expect(found('left.land')).toMatchObject([{ status: 'rejected', detail: 'not now' }])
  expect(found('of-old')).toMatchObject([{ status: 'rejected', detail: 'Not good.' }])
})
