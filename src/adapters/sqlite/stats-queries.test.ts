import { expect, test } from 'vitest'
import { EventStream, sessionIdOf, spanIdOf } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'

const dayMs = 86_400_000
const call = { callId: 'c', tool: 'Bash' } as const

function work(): EventStream {
  const stream = new EventStream()
  const agent = { agentId: 'a', agentType: 'developer' }
  stream.add('tool.call.completed', call, { actor: 'dev', phase: 'work', workflowId: 'w' })
  stream.add('tool.call.failed', call, { actor: 'dev', phase: 'check' })
  stream.add('tool.call.denied', { ...call, gate: 'tool', reason: 'no' }, { actor: 'lead' })
  stream.add('agent.spawned', { agentId: 'b', agentType: 'developer', depth: 2 }, { atMs: dayMs })
  stream.add('agent.spawned', { agentId: 'c', agentType: 'developer' }, { atMs: dayMs })
  stream.add('task.completed', {}, { atMs: dayMs })
  stream.add('task.failed', {}, { atMs: dayMs })
  stream.add('task.cancelled', {}, { atMs: dayMs })
  stream.add('handoff.requested', { from: agent, to: agent, reason: 'x' }, { sessionId: sessionIdOf(2) })
  stream.add(
    'handoff.loop_detected',
    { cycle: ['a', 'b'], count: 2, limit: 2 },
    { sessionId: sessionIdOf(2) },
  )
  stream.add('loop.round.completed', { round: 1, verdict: 'changes_requested' })
  stream.add('loop.round.completed', { round: 2, verdict: 'rejected' })
  stream.add('loop.round.completed', { round: 3, verdict: 'approved' })
  stream.add('claim.verified', { findingId: 'f', verifierAgentId: 'v', verdict: 'refuted', evidence: '' })
  stream.add('context.compacted', { tokensBefore: 1000, tokensAfter: 100 })
  stream.add('context.compacted', { tokensBefore: 5000 })
  stream.add('approval.granted', { approvalId: 'x', subject: 'tool', by: 'me' })
  return stream
}

test('[OBS-21, OBS-22, OBS-23, OBS-24, OBS-25, OBS-28] the counters of every metric are kept', () => {
  using place = new TempIndex()
  using index = place.queries(work().events)
  expect(index.stats({})).toMatchObject([
    {
      day: null,
      sessionId: null,
      events: 17,
      toolCompleted: 1,
      toolFailed: 1,
      toolDenied: 1,
      agents: 2,
      depths: 1,
      depthSum: 2,
      tasksCompleted: 1,
      tasksFailed: 1,
      tasksCancelled: 1,
      handoffs: 1,
      handoffLoops: 1,
      approved: 1,
      changesRequested: 1,
      rejected: 1,
      supported: 0,
      refuted: 1,
      tokensBefore: 1000,
      tokensAfter: 100,
      granted: 1,
      calls: 0,
      tokens: null,
      costUsd: null,
    },
  ])
})

test('[MUS-178] counters are cut by day, session, actor, workflow and phase', () => {
  using place = new TempIndex()
  using index = place.queries(work().events)
  expect(index.stats({ by: ['day'] })).toMatchObject([
    { day: '2026-03-01', events: 12 },
    { day: '2026-03-02', events: 5, tasksFailed: 1 },
  ])
  expect(index.stats({ by: ['actor', 'phase'] }).filter((row) => row.actor === 'dev')).toMatchObject([
    { actor: 'dev', phase: 'work', workflowId: null, toolCompleted: 1, toolFailed: 0 },
    { actor: 'dev', phase: 'check', toolCompleted: 0, toolFailed: 1 },
  ])
  expect(index.stats({ by: ['workflowId'] }).map((row) => row.workflowId)).toEqual(['w', null])
  expect(index.stats({ by: ['sessionId'], sessionId: sessionIdOf(2) })).toMatchObject([
    { sessionId: sessionIdOf(2), events: 2, handoffLoops: 1 },
  ])
  expect(index.stats({ fromDay: '2026-03-02', toDay: '2026-03-02' })).toMatchObject([{ events: 5 }])
  expect(index.stats({ by: ['day'], limit: 1 })).toHaveLength(1)
})

test('[MUS-74] what followers set aside is listed, and counted with the sizes of the index', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('tool.call.started', call, { spanId: spanIdOf(1) })
  stream.add('event.parked', { follower: 'search', seq: 1, error: 'too odd' })
  using index = place.queries(stream.events)
  expect(index.parked()).toEqual([{ follower: 'search', seq: 1, error: 'too odd' }])
  expect(index.counts()).toEqual({
    lastSeq: 2,
    events: 2,
    sessions: 1,
    runs: 1,
    spans: 1,
    openSpans: 1,
    parked: 1,
  })
})
