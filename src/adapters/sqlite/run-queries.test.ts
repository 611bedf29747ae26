import { expect, test } from 'vitest'
import { EventStream, runIdOf, sessionIdOf, spanIdOf, startMs } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import { shortId } from '../../contract/ids.ts'

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

/** A turn that hands work to a helper, which hands a part of it on. */
function handedOn(): EventStream {
  const stream = new EventStream()
  stream.add('session.started', { origin: 'runtime', name: 'lead-1' })
  const spawned = (n: number, agentId: string, parent?: number) =>
    stream.add(
      'agent.spawned',
      { agentId, agentType: agentId, kind: parent ? 'subagent' : 'main' },
      { runId: runIdOf(n), spanId: spanIdOf(n), ...(parent && { parentRunId: runIdOf(parent) }) },
    )
  spawned(2, 'lead')
  spawned(3, 'helper', 2)
  spawned(4, 'reader', 3)
  stream.add('agent.completed', { agentId: 'helper' }, { runId: runIdOf(3), spanId: spanIdOf(3) })
  spawned(5, 'helper', 2)
  return stream
}

test('[MUS-370] agents inside of a session are those that work for a run of it, and they are counted', () => {
  using place = new TempIndex()
  const stream = handedOn()
  // A member of a crew is a session of its own: what it works for is elsewhere, and its turns are its own.
  const member = { sessionId: sessionIdOf(2), runId: runIdOf(6), parentRunId: runIdOf(2) }
  stream.add('session.started', { origin: 'managed', parentSessionId: sessionIdOf(1) }, member)
  stream.add('agent.spawned', { agentId: 'dev', agentType: 'dev' }, { ...member, runId: runIdOf(7) })
  using index = place.queries(stream.events)
  const inside = (filter: object) => index.runs({ isInside: true, ...filter }).map(({ runId }) => runId)
  expect(inside({})).toEqual([3, 4, 5].map(runIdOf))
  expect(inside({ isOpen: true })).toEqual([4, 5].map(runIdOf))
  expect(index.agentCounts([sessionIdOf(1), sessionIdOf(2), sessionIdOf(3)])).toEqual([
    { sessionId: sessionIdOf(1), running: 2, ended: 1 },
  ])
  expect(index.agentCounts([])).toEqual([])
})

test('[MUS-372] an agent is found by its id, short id, name and the beginning of its short id, one at work first', () => {
  using place = new TempIndex()
  using index = place.queries(handedOn().events)
  const found = (word: string) => index.findAgents(word).map(({ runId }) => runId)
  expect(found(runIdOf(3))).toEqual([runIdOf(3)])
  expect(found(shortId(runIdOf(3)))).toEqual([runIdOf(3)])
  expect(found(shortId(runIdOf(3)).slice(0, 6))).toEqual([runIdOf(3)])
  expect(found('helper')).toEqual([runIdOf(5)])
  expect(found('reader')).toEqual([runIdOf(4)])
  // A turn is its session, but who knows its whole id means it.
  expect(found('lead')).toEqual([])
  expect(found(runIdOf(2))).toEqual([runIdOf(2)])
  expect(found(runIdOf(1))).toEqual([])
  expect([found(''), found('*'), found('nobody')]).toEqual([[], [], []])
})

test('[MUS-371] a run that has no beginning of its own is an agent when somebody works for it', () => {
  using place = new TempIndex()
  using index = place.queries(delegation().events)
  expect(index.runs({ isAgent: true }).map(({ runId }) => runId)).toEqual([runIdOf(1), runIdOf(2)])
  const alone = new EventStream({ sessionId: sessionIdOf(2) })
  alone.add('session.started', {})
  using other = new TempIndex()
  using bare = other.queries(alone.events)
  expect(bare.runs({ isAgent: true })).toEqual([])
})

test('[MUS-370] the row of a run says what its agent did last, and when', () => {
  using place = new TempIndex()
  const stream = handedOn()
  const reader = { runId: runIdOf(4), spanId: spanIdOf(9), atMs: 60_000 }
  stream.add('tool.call.started', { callId: 'c', tool: 'Read', params: { file_path: 'a.ts' } }, reader)
  using index = place.queries(stream.events)
  expect(index.runs({ runId: runIdOf(4) })).toMatchObject([
    { activity: 'calling_tool', doing: 'Calling Read a.ts', lastMs: startMs + 60_000 },
  ])
  expect(index.toolCounts({ sessionId: sessionIdOf(1), runId: runIdOf(4) })).toEqual([
    { tool: 'Read', count: 1 },
  ])
  expect(index.toolCounts({ sessionId: sessionIdOf(1), runId: runIdOf(3) })).toEqual([])
})

test('[MUS-370] the row of a run has what its agent answered, in words where that is data', () => {
  using place = new TempIndex()
  const stream = handedOn()
  const end = (n: number, text: string) =>
    stream.add(
      'agent.completed',
      { agentId: 'x', output: { text } },
      { runId: runIdOf(n), spanId: spanIdOf(n) },
    )
  end(4, 'It is in a.txt.')
  end(5, '```json\n{ "status": "completed", "summary": "It is \\"there\\"." }\n```')
  using index = place.queries(stream.events)
  const detail = (n: number) => index.runs({ runId: runIdOf(n) })[0]?.detail
  expect([detail(4), detail(5)]).toEqual(['It is in a.txt.', 'It is "there".'])
})
