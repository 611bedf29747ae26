import { EventStream, runIdOf, sessionIdOf, spanIdOf } from './events.ts'

/** The session of the observability document: planner, search, code, test, a retry, and a reviewer that approves. */
export function traceStory(): EventStream {
  const stream = new EventStream({ sessionId: sessionIdOf(1) })
  const agent = (
    n: number,
    actor: string,
    of: { parent: number; from: number; to: number },
    inside: () => void,
  ) => {
    const place = { actor, runId: runIdOf(n), spanId: spanIdOf(n * 10), parentSpanId: spanIdOf(of.parent) }
    stream.add('agent.spawned', { agentId: actor, agentType: actor }, { ...place, atMs: of.from })
    inside()
    stream.add('agent.completed', { agentId: actor }, { ...place, atMs: of.to })
  }
  const actors: Readonly<Record<number, string>> = { 2: 'planner', 4: 'coder', 5: 'coder' }
  const tool = (n: number, of: number, [name, subject, from, to]: [string, string, number, number]) => {
    const place = {
      actor: actors[of] ?? 'agent',
      runId: runIdOf(of),
      spanId: spanIdOf(n),
      parentSpanId: spanIdOf(of * 10),
    }
    const call = { callId: `c${n}`, tool: name }
    stream.add('tool.call.started', { ...call, params: { path: subject } }, { ...place, atMs: from })
    stream.add('tool.call.completed', call, { ...place, atMs: to })
  }
  const model = (n: number, of: number, from: number, to: number) => {
    const place = {
      actor: actors[of] ?? 'agent',
      runId: runIdOf(of),
      spanId: spanIdOf(n),
      parentSpanId: spanIdOf(of * 10),
    }
    stream.add('llm.request.started', { model: 'big' }, { ...place, atMs: from })
    stream.add(
      'llm.request.completed',
      { model: 'big', responseId: `r${n}`, usage: { input: 100 } },
      { ...place, atMs: to },
    )
  }
  stream.add('session.started', { name: 'login', origin: 'runtime' }, { spanId: spanIdOf(1), atMs: 0 })
  agent(2, 'planner', { parent: 1, from: 0, to: 10_000 }, () => {
    model(21, 2, 0, 4000)
    model(22, 2, 6000, 9000)
    stream.add(
      'plan.created',
      { planId: 'p', plan: { summary: 'two steps' } },
      { actor: 'planner', runId: runIdOf(2), spanId: spanIdOf(20), atMs: 9000 },
    )
  })
  const task = { spanId: spanIdOf(3), parentSpanId: spanIdOf(1), taskId: 'code', atMs: 10_000 }
  stream.add('agent.task.assigned', { taskId: 'code', agentId: 'coder', description: 'Write it' }, task)
  agent(4, 'coder', { parent: 3, from: 10_000, to: 40_000 }, () => {
    for (const n of [41, 42, 43]) tool(n, 4, ['read_file', `${n}.ts`, 10_000 + n, 11_000 + n])
    tool(44, 4, ['edit_file', 'a.ts', 12_000, 30_000])
    stream.add(
      'patch.created',
      { files: [{ path: 'a.ts', change: 'modified' }] },
      { runId: runIdOf(4), spanId: spanIdOf(44), atMs: 30_000 },
    )
  })
  stream.add('test.failed', { command: 'npm test' }, { spanId: spanIdOf(3), atMs: 41_000 })
  agent(5, 'coder', { parent: 3, from: 42_000, to: 60_000 }, () =>
    tool(51, 5, ['edit_file', 'a.ts', 43_000, 58_000]),
  )
  stream.add('task.completed', { agentId: 'coder' }, { ...task, atMs: 60_000 })
  const review = { spanId: spanIdOf(6), parentSpanId: spanIdOf(1), taskId: 'review', atMs: 60_000 }
  stream.add(
    'agent.task.assigned',
    { taskId: 'review', agentId: 'reviewer', description: 'Review it' },
    review,
  )
  agent(7, 'reviewer', { parent: 6, from: 60_000, to: 70_000 }, () => {})
  stream.add(
    'task.completed',
    { agentId: 'reviewer', output: { verdict: 'approved' } },
    { ...review, atMs: 70_000 },
  )
  stream.add(
    'approval.requested',
    { approvalId: 'a', subject: 'land', action: 'Land it?' },
    { spanId: spanIdOf(8), parentSpanId: spanIdOf(1), atMs: 70_000 },
  )
  return stream
}
