import { expect, test } from 'vitest'
import { EventStream, sessionIdOf, startMs } from '../../../test/support/events.ts'
import { TempIndex } from '../../../test/support/temp-index.ts'
import type { PayloadOf } from '../../contract/event.ts'
import { fleet, shortId } from '../../contract/ids.ts'

type Started = Partial<PayloadOf<'session.started'>>

/** A tree: 1 is the parent of 2 and 3, 3 of 4; 5 stands alone. */
function family(): EventStream {
  const stream = new EventStream()
  const start = (n: number, payload: Started) =>
    stream.add('session.started', payload, { sessionId: sessionIdOf(n) })
  start(1, {
    name: 'lead',
    title: 'Add login',
    agent: { agentId: 'a', agentType: 'architect' },
    origin: 'managed',
  })
  start(2, { name: 'dev-api', parentSessionId: sessionIdOf(1), workingDir: '/work/api' })
  start(3, { name: 'dev-ui', parentSessionId: sessionIdOf(1), workingDir: '/work/ui' })
  start(4, { name: 'helper', parentSessionId: sessionIdOf(3) })
  start(5, { name: 'Solo_100%', foreignId: 'abc-123', prompt: 'fix the build', origin: 'observed' })
  return stream
}

const names = (rows: readonly { readonly name: string | null }[]) => rows.map((row) => row.name)

test('[MUS-70] sessions come newest first and page by their first event', () => {
  using place = new TempIndex()
  using index = place.queries(family().events)
  expect(names(index.sessions({}))).toEqual(['Solo_100%', 'helper', 'dev-ui', 'dev-api', 'lead'])
  const [, second] = index.sessions({ limit: 2 })
  expect(names(index.sessions({ limit: 2, before: second?.firstSeq ?? 0 }))).toEqual(['dev-ui', 'dev-api'])
  expect(index.sessions({ limit: 0 })).toEqual([])
})

test('[MUS-70] sessions are filtered by state, place in the tree, folder, type, origin and text', () => {
  using place = new TempIndex()
  const stream = family()
  stream.add('session.completed', { outcome: 'completed' }, { sessionId: sessionIdOf(2) })
  using index = place.queries(stream.events)
  expect(names(index.sessions({ lifecycle: ['completed'] }))).toEqual(['dev-api'])
  expect(names(index.sessions({ lifecycle: ['completed', 'running', 'spawned'], isRoot: true }))).toEqual([
    'Solo_100%',
    'lead',
  ])
  expect(names(index.sessions({ isRoot: false, isOpen: true }))).toEqual(['helper', 'dev-ui'])
  expect(names(index.sessions({ parentId: sessionIdOf(1) }))).toEqual(['dev-ui', 'dev-api'])
  expect(names(index.sessions({ workingDir: '/work/ui' }))).toEqual(['dev-ui'])
  expect(names(index.sessions({ agentType: 'architect' }))).toEqual(['lead'])
  expect(names(index.sessions({ origin: 'observed' }))).toEqual(['Solo_100%'])
  expect(names(index.sessions({ text: 'LOGIN' }))).toEqual(['lead'])
  expect(names(index.sessions({ text: 'build' }))).toEqual(['Solo_100%'])
  expect(names(index.sessions({ text: '0%' }))).toEqual(['Solo_100%'])
  expect(names(index.sessions({ text: 'o_o' }))).toEqual([])
  expect(index.sessions({ origin: 'never-seen' })).toEqual([])
})

test('[MUS-70] a word finds a session by id, short id, name, the end of a name, foreign id or how one of them begins', () => {
  using place = new TempIndex()
  using index = place.queries(family().events)
  expect(names(index.findSessions(sessionIdOf(4)))).toEqual(['helper'])
  expect(names(index.findSessions(shortId(sessionIdOf(4))))).toEqual(['helper'])
  expect(names(index.findSessions(shortId(sessionIdOf(4)).toUpperCase()))).toEqual(['helper'])
  expect(names(index.findSessions('lead'))).toEqual(['lead'])
  expect(names(index.findSessions('abc-123'))).toEqual(['Solo_100%'])
  expect(names(index.findSessions('dev-'))).toEqual(['dev-ui', 'dev-api'])
  expect(names(index.findSessions('api'))).toEqual(['dev-api'])
  expect(names(index.findSessions(shortId(sessionIdOf(4)).slice(0, 5)))).toEqual(['helper'])
  for (const word of ['', '*', 'nobody', 'ev-ui', '[a-z]', "' OR 1=1"])
    expect(index.findSessions(word)).toEqual([])
})

test('[MUS-70] a subtree has the session first and then its descendants, also when parents form a circle', () => {
  using place = new TempIndex()
  const stream = family()
  stream.add('session.started', { name: 'lead', parentSessionId: sessionIdOf(4) })
  using index = place.queries(stream.events)
  expect(names(index.subtree(sessionIdOf(1)))).toEqual(['lead', 'dev-api', 'dev-ui', 'helper'])
  expect(names(index.subtree(sessionIdOf(3)))).toEqual(['dev-ui', 'helper', 'lead', 'dev-api'])
  expect(index.subtree(sessionIdOf(9))).toEqual([])
})

test('[MUS-22] a session row follows its lifecycle, and a reopened session has no end', () => {
  const stream = new EventStream()
  const at = () => {
    using place = new TempIndex()
    using index = place.queries(stream.events)
    return index.sessions({})[0]
  }
  stream.add('session.started', { name: 'one', model: 'm', cli: 'claude' })
  expect(at()).toMatchObject({ lifecycle: 'running', startedMs: startMs + 1000, endedMs: null, lastSeq: 1 })
  stream.add('session.state.changed', {
    from: 'running',
    to: 'waiting_input',
    activity: 'idle',
    detail: 'asks',
  })
  expect(at()).toMatchObject({ lifecycle: 'waiting_input', activity: 'idle', detail: 'asks', endedMs: null })
  stream.add('session.failed', { error: 'out of disk' })
  expect(at()).toMatchObject({ lifecycle: 'error', detail: 'out of disk', endedMs: startMs + 3000 })
  stream.add('session.reopened', { by: 'operator' })
  expect(at()).toMatchObject({ lifecycle: 'running', detail: null, endedMs: null })
  stream.add('session.completed', { outcome: 'killed', reason: 'enough' })
  expect(at()).toMatchObject({
    lifecycle: 'killed',
    detail: 'enough',
    endedMs: startMs + 5000,
    startedMs: startMs + 1000,
    lastType: 'session.completed',
    lastMs: startMs + 5000,
    events: 5,
  })
})

test('[MUS-22] a state that ends a session gives it an end, once', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('session.state.changed', { to: 'abandoned' })
  stream.add('session.state.changed', { to: 'error' })
  using index = place.queries(stream.events)
  expect(index.sessions({})).toMatchObject([{ lifecycle: 'error', startedMs: null, endedMs: startMs + 1000 }])
})

test('[MUS-4] the last moment of a session is the latest, not the one of its last event', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('session.started', { title: 'be\0fore' }, { atMs: 9000 })
  stream.add('progress.checkpoint', { message: 'late' }, { atMs: 4000 })
  using index = place.queries(stream.events)
  expect(index.sessions({})).toMatchObject([{ lastMs: startMs + 9000, firstMs: startMs + 9000, lastSeq: 2 }])
  expect(index.sessions({ text: 'fore' })).toHaveLength(1)
})

test('[OBS-25, MUS-179] a session counts its calls, messages and agents; a price nobody gave is null', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  const call = { callId: 'c', tool: 'Bash' }
  stream.add('tool.call.completed', call)
  stream.add('tool.call.completed', call)
  stream.add('tool.call.failed', call)
  stream.add('tool.call.denied', { ...call, gate: 'policy', reason: 'no' })
  stream.add('agent.spawned', { agentId: 'b', agentType: 'developer' })
  const agent = { agentId: 'a', agentType: 'developer' }
  stream.add('agent.message.created', { messageId: 'm', from: agent, to: agent, text: 'hi' })
  stream.add('progress.checkpoint', { message: 'half way' })
  stream.add('llm.request.completed', { responseId: 'r', model: 'm', usage: { input: 5 }, billing: 'plan' })
  using index = place.queries(stream.events)
  expect(index.sessions({})).toMatchObject([
    {
      toolCompleted: 2,
      toolFailed: 1,
      toolDenied: 1,
      agents: 1,
      messages: 1,
      milestone: 'half way',
      calls: 1,
      unpriced: 1,
      tokens: 5,
      costUsd: null,
      billing: 'plan',
    },
  ])
})

test('[MUS-22] what a subagent does is not what the session does', () => {
  using place = new TempIndex()
  const stream = new EventStream()
  stream.add('agent.status.changed', { agentId: 'a', status: 'thinking' })
  stream.add('agent.status.changed', { agentId: 'b', status: 'idle' }, { parentRunId: fleet.runId })
  using index = place.queries(stream.events)
  expect(index.sessions({})).toMatchObject([{ activity: 'thinking' }])
})

test('[MUS-70] what belongs to no agent makes no session and no run', () => {
  using place = new TempIndex()
  const stream = new EventStream({ sessionId: fleet.sessionId, runId: fleet.runId })
  stream.add('settings.updated', { mode: 'auto' })
  stream.add('llm.request.completed', { responseId: 'r', model: 'm', usage: { input: 5 } })
  using index = place.queries(stream.events)
  expect(index.sessions({})).toEqual([])
  expect(index.runs({})).toEqual([])
  expect(index.counts()).toMatchObject({ events: 2, sessions: 0, runs: 0 })
  expect(index.usage({})).toMatchObject([{ tokens: 5 }])
})
