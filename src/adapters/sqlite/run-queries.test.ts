import { expect, test } from 'vitest'
import { EventStream, runIdOf, sessionIdOf, spanIdOf, startMs } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'

function delegation(): EventStream {
  const stream = new EventStream()
  stream.add('session.started', { workingDir: '/repo', agent: { agentId: 'main', agentType: 'architect' } })
  stream.add(
    'agent.spawned',
    { agentId: 'dev', agentType: 'developer', kind: 'subagent', agentTask: 'write it', model: 'm', depth: 1 },
    { runId: runIdOf(2), parentRunId: runIdOf(1), spanId: spanIdOf(2), phase: 'work' },
  )
  return stream
}

test('[RUN-24, RUN-25, RUN-26] a run row has the fields of a run record', () => {
  using place = new TempIndex()
  using index = place.queries(delegation().events)
  expect(index.runs({ sessionId: sessionIdOf(1) })).toMatchObject([
    {
      runId: runIdOf(1),
      agentId: 'main',
      kind: 'main',
      parentRunId: null,
      repoPath: '/repo',
      status: 'running',
    },
    {
      runId: runIdOf(2),
      sessionId: sessionIdOf(1),
      agentId: 'dev',
      agentType: 'developer',
      kind: 'subagent',
      parentRunId: runIdOf(1),
      repoPath: '/repo',
      task: 'write it',
      model: 'm',
      depth: 1,
      phase: 'work',
      status: 'running',
      startedMs: startMs + 2000,
      endedMs: null,
    },
  ])
})

test('[MUS-70] runs are found by id, by parent and by being open, and page by their first event', () => {
  using place = new TempIndex()
  const stream = delegation()
  stream.add('agent.completed', { agentId: 'dev' }, { runId: runIdOf(2) })
  using index = place.queries(stream.events)
  const ids = (filter: object) => index.runs(filter).map((row) => row.runId)
  expect(ids({ runId: runIdOf(2) })).toEqual([runIdOf(2)])
  expect(ids({ parentRunId: runIdOf(1) })).toEqual([runIdOf(2)])
  expect(ids({ isOpen: true })).toEqual([runIdOf(1)])
  expect(ids({ isOpen: false })).toEqual([runIdOf(2)])
  expect(ids({ after: 1 })).toEqual([runIdOf(2)])
  expect(ids({ limit: 1 })).toEqual([runIdOf(1)])
})

test.each([
  ['agent.completed', 'completed', 'completed'],
  ['agent.failed', 'failed', 'failed'],
  ['agent.cancelled', 'cancelled', 'cancelled'],
  ['agent.killed', 'cancelled', 'killed'],
  ['agent.abandoned', 'failed', 'abandoned'],
] as const)('[RUN-27, RUN-28] %s leaves the run %s', (type, status, ending) => {
  using place = new TempIndex()
  const stream = delegation()
  stream.add(type, { agentId: 'dev', reason: 'because', tokens: 12 }, { runId: runIdOf(2) })
  using index = place.queries(stream.events)
  expect(index.runs({ runId: runIdOf(2) })).toMatchObject([
    { status, ending, detail: 'because', endedMs: startMs + 3000, durationMs: 1000, declaredTokens: 12 },
  ])
})

test('[RUN-29] the first end of a run stands', () => {
  using place = new TempIndex()
  const stream = delegation()
  stream.add('agent.failed', { agentId: 'dev', error: 'no' }, { runId: runIdOf(2) })
  stream.add('agent.completed', { agentId: 'dev', detail: 'yes', durationMs: 7 }, { runId: runIdOf(2) })
  using index = place.queries(stream.events)
  expect(index.runs({ runId: runIdOf(2) })).toMatchObject([
    { status: 'failed', detail: 'no', endedMs: startMs + 3000, durationMs: 1000 },
  ])
})

test('[RUN-27] a session that ends closes the run it names', () => {
  using place = new TempIndex()
  const stream = delegation()
  stream.add('session.completed', { outcome: 'killed', reason: 'enough' })
  stream.add('session.failed', { error: 'gone' }, { runId: runIdOf(3), sessionId: sessionIdOf(3) })
  using index = place.queries(stream.events)
  expect(index.runs({ runId: runIdOf(1) })).toMatchObject([{ status: 'cancelled', detail: 'enough' }])
  expect(index.runs({ runId: runIdOf(3) })).toMatchObject([{ status: 'failed', detail: 'gone' }])
})

test('[MUS-361] what is reported counts for no run and no span of another session, open or ended', () => {
  const stream = new EventStream()
  const at = (n: number) => ({ sessionId: sessionIdOf(n), runId: runIdOf(n), spanId: spanIdOf(n) })
  const call = { callId: 'c', tool: 'Bash' }
  for (const n of [1, 2]) {
    stream.add('agent.spawned', { agentId: 'a', agentType: 'coder' }, at(n))
    stream.add('tool.call.started', call, { ...at(n), spanId: spanIdOf(10 + n) })
  }
  stream.add('agent.completed', { agentId: 'a' }, at(2))
  const rows = () => {
    using place = new TempIndex()
    using index = place.queries(stream.events)
    const spans = [1, 2].flatMap((n) => index.spans({ sessionId: sessionIdOf(n) }))
    return { runs: [1, 2].flatMap((n) => index.runs({ sessionId: sessionIdOf(n) })), spans }
  }
  const before = rows()
  for (const n of [1, 2])
    for (const via of ['report', 'import'] as const) {
      const by = { kind: 'session', id: sessionIdOf(3), via } as const
      for (const spanId of [spanIdOf(n), spanIdOf(10 + n)]) {
        const told = { ...at(n), spanId, sessionId: sessionIdOf(3), by }
        stream.add('tool.call.started', call, told)
        stream.add('tool.call.completed', call, told)
        stream.add('tool.call.denied', { ...call, gate: 'tool', reason: 'x' }, told)
        stream.add('agent.failed', { agentId: 'a' }, told)
        stream.add(
          'llm.request.completed',
          { responseId: `${via}${n}${spanId}`, model: 'm', usage: { input: 1000 }, costUsd: 5 },
          told,
        )
      }
    }
  expect(rows()).toEqual(before)
})
