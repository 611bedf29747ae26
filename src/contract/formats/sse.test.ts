import { describe, expect, test } from 'vitest'
import type * as z from 'zod'
import { everySample, sampleEvent, sampleRun, sampleSession } from '../../../test/http/sample-events.ts'
import { type AgentEvent, type Catalogue, catalogue, type EventType } from '../event.ts'
import { sseTypes } from '../event-definition.ts'
import { framesPerEvent, maxParts, partsOf, runtimeFrames, tokenFrame } from './sse.ts'

const event = <T extends EventType>(
  type: T,
  payload: z.input<Catalogue[T]['payload']>,
  given: Partial<AgentEvent> = {},
) =>
  ({
    seq: 7,
    ...sampleEvent(type, { payload: catalogue[type].payload.parse(payload) as never, ...given }),
  }) as AgentEvent
const data = (from: AgentEvent, context = {}) => runtimeFrames(from, context).map((frame) => frame.data)
const envelope = { seq: 7 * framesPerEvent, session_id: sampleSession(1), run_id: sampleRun(1) }

/** Of a run that works for another. */
const below = { parentRunId: sampleRun(9) }

const required = {
  StateUpdated: [],
  Message: ['from', 'to', 'content'],
  SubagentSpawned: ['parent_id', 'subagent_id', 'task'],
  SubagentResult: ['parent_id', 'subagent_id', 'outcome'],
  AgentStatus: ['agent_id', 'status'],
  SettingsUpdated: [],
  QueueUpdated: ['agent_id', 'items'],
  Token: [],
  Outcome: ['agent_id', 'outcome'],
} as const

test('[MUS-220] the SSE names are these', () => {
  expect(sseTypes).toEqual([
    'StateUpdated',
    'Message',
    'SubagentSpawned',
    'SubagentResult',
    'AgentStatus',
    'SettingsUpdated',
    'QueueUpdated',
    'Token',
    'Outcome',
  ])
})

test.each(everySample().map((sample) => [sample.type, sample] as const))(
  '[RUN-32][MUS-9] %s makes the frames of its view row, each complete',
  (type, sample) => {
    expect(catalogue[type].payload.safeParse(sample.payload).success).toBe(true)
    const event = { seq: 7, ...sample, parentRunId: sampleRun(9) } as AgentEvent
    const frames = runtimeFrames(event)
    expect(frames.length).toBeGreaterThan(0)
    expect(frames.map((frame) => frame.type)).toEqual(catalogue[type].sse)
    expect(partsOf(event)).toBe(frames.length)
    expect(frames.length).toBeLessThanOrEqual(maxParts)
    expect(maxParts).toBeLessThan(framesPerEvent)
    for (const [part, frame] of frames.entries()) {
      expect(frame.data).toMatchObject({ ...envelope, seq: envelope.seq + part, type: frame.type })
      for (const name of required[frame.type]) expect(frame.data[name], `${frame.type}.${name}`).toBeDefined()
      expect(JSON.parse(JSON.stringify(frame.data))).toEqual(frame.data)
    }
  },
)

test('[RUN-33] an event of a newer writer is a StateUpdated and nothing more', () => {
  const newer = { ...event('agent.idle', { agentId: 'a' }), type: 'agent.dreaming' } as unknown as AgentEvent
  expect(runtimeFrames(newer)).toEqual([
    { type: 'StateUpdated', data: { ...envelope, type: 'StateUpdated' } },
  ])
})

test('[RUN-33] what else happened is named, with the message that it is about', () => {
  const accepted = event('message.accepted', { messageId: 'm1', proof: 'runtime' })
  expect(data(accepted)).toEqual([
    { ...envelope, type: 'StateUpdated', event: 'message.accepted', message_id: 'm1' },
  ])
})

test('[RUN-34] a message says who to whom, from its text, else from its payload', () => {
  const ends = {
    from: { agentId: 'a', agentType: 'x' },
    to: { agentId: 'b', agentType: 'y' },
    messageId: 'm',
  }
  expect(data(event('agent.message.created', { ...ends, text: 'hello' }))).toEqual([
    { ...envelope, type: 'Message', from: 'a', to: 'b', content: 'hello' },
  ])
  expect(data(event('agent.message.created', { ...ends, payload: { task_id: 't' } }))[0]).toMatchObject({
    content: '{"task_id":"t"}',
  })
})

test('[RUN-34] a long message shows its preview, not its reference', () => {
  const blob = {
    $blob: `sha256:${'a'.repeat(64)}`,
    bytes: 99999,
    pack: 1,
    offset: 0,
    preview: 'the beginning',
  }
  const assigned = event('agent.task.assigned', {
    taskId: 't',
    description: blob,
    agentId: 'dev',
    assignedBy: 'lead',
  })
  expect(data(assigned)[0]).toMatchObject({ from: 'lead', to: 'dev', content: 'the beginning' })
})

test('[RUN-34] a finding names its place', () => {
  const found = event('verifier.issue.found', {
    findingId: 'f1',
    severity: 'major',
    category: 'bug',
    file: 'a.ts',
    line: 3,
    description: 'off by one',
  })
  expect(data(found)[0]).toMatchObject({ from: 'architect', content: 'major bug: off by one (a.ts:3)' })
})

test('[RUN-35] a spawned agent has its parent, which is who asked for it', () => {
  const payload = { agentId: 'dev-1', agentType: 'developer', agentTask: 'build it' }
  const spawned = event('agent.spawned', payload, below)
  expect(data(spawned)).toEqual([
    { ...envelope, type: 'SubagentSpawned', parent_id: 'architect', subagent_id: 'dev-1', task: 'build it' },
  ])
})

describe('[RUN-36][RUN-41] every end of an agent', () => {
  test.each([
    ['agent.completed', 'completed'],
    ['agent.failed', 'failed'],
    ['agent.cancelled', 'cancelled'],
    ['agent.killed', 'killed'],
    ['agent.abandoned', 'abandoned'],
  ] as const)('%s has a result and an outcome', (type, status) => {
    const ended = event(type, { agentId: 'dev-1', reason: 'because' }, { actor: 'dev-1', ...below })
    const outcome = { type: 'none', status, detail: 'because' }
    expect(data(ended, { parentAgentId: 'lead' })).toEqual([
      { ...envelope, type: 'SubagentResult', parent_id: 'lead', subagent_id: 'dev-1', outcome },
      { ...envelope, seq: envelope.seq + 1, type: 'Outcome', agent_id: 'dev-1', outcome },
    ])
  })

  test('[RUN-35][RUN-36] an agent that works for nobody is no subagent', () => {
    const main = { agentId: 'lead', agentType: 'architect', kind: 'main' } as const
    const frames = [event('agent.spawned', main), event('agent.completed', { agentId: 'lead' })].map((each) =>
      runtimeFrames(each).map(({ type }) => type),
    )
    expect(frames).toEqual([['StateUpdated'], ['Outcome']])
  })

  test('[RUN-41] what it produced is named when it says so', () => {
    const patched = event(
      'agent.completed',
      { agentId: 'dev-1', output: { type: 'patch', diff: '…' } },
      below,
    )
    expect(data(patched)[1]).toMatchObject({ outcome: { type: 'patch', status: 'completed' } })
  })

  test('[RUN-41] what it was finished with and what it used come with it', () => {
    const output = { type: 'task', text: 'done', packet: { files: 2 } }
    const ended = event(
      'agent.completed',
      { agentId: 'dev-1', output, usage: { input: 3, output: 1 } },
      below,
    )
    expect(data(ended)[1]).toMatchObject({
      outcome: { type: 'task', output: { files: 2 }, usage: { input: 3, output: 1 } },
    })
  })

  test('[RUN-36] without a context the parent is never the agent itself', () => {
    const self = { actor: 'dev-1', ...below }
    expect(data(event('agent.failed', { agentId: 'dev-1' }, self))[0]).toMatchObject({
      parent_id: sampleRun(9),
    })
    expect(data(event('agent.failed', { agentId: 'dev-1' }, { actor: 'lead', ...below }))[0]).toMatchObject({
      parent_id: 'lead',
    })
  })
})

describe('[RUN-30][RUN-37] live status', () => {
  test('[RUN-30][RUN-37] a tool call is one row: it begins and it is done', () => {
    const call = { callId: 'c1', tool: 'Read' }
    const rows = [
      event('tool.call.started', { ...call, params: { file_path: 'src/a.ts', limit: 3 } }),
      event('tool.call.completed', { ...call, durationMs: 12 }),
      event('tool.call.failed', { ...call, durationMs: 3, error: 'no such file' }),
      event('tool.call.denied', { ...call, gate: 'tool', reason: 'not in its list' }),
    ].map((each) => data(each)[0])
    expect(rows[0]).toMatchObject({ status: 'calling_tool', detail: 'Calling Read', lifecycle: 'doing' })
    expect(rows.slice(1).map((row) => [row?.['status_id'], row?.['lifecycle']])).toEqual(
      Array(3).fill(['c1', 'done']),
    )
    expect(rows[0]).toMatchObject({ tool: 'Read', target: 'src/a.ts' })
    expect(rows[1]).toMatchObject({ tool: 'Read', result: 'completed', duration_ms: 12 })
    expect(rows[2]).toMatchObject({ result: 'failed', duration_ms: 3, reason: 'no such file' })
    expect(rows[3]).toMatchObject({
      result: 'denied',
      detail: 'Read denied: not in its list',
      reason: 'not in its list',
    })
  })

  test.each(['model_loading', 'thinking', 'calling_tool', 'working', 'idle'] as const)(
    '%s passes through',
    (status) => {
      expect(data(event('agent.status.changed', { agentId: 'a', status, detail: 'd' }))[0]).toMatchObject({
        agent_id: 'a',
        status,
        detail: 'd',
        lifecycle: status === 'idle' ? 'done' : 'doing',
      })
    },
  )

  test('[RUN-31] a run has one status row, so that each status closes the one before, and idleness the last', () => {
    const rows = [
      event('agent.status.changed', { agentId: 'a', status: 'thinking', detail: 'Thinking' }),
      event('progress.checkpoint', { message: 'half of it' }),
      event('agent.waiting', { agentId: 'a', waitsFor: 'permission' }),
      event('agent.status.changed', { agentId: 'a', status: 'working' }),
      event('agent.idle', { agentId: 'a' }),
    ].map((each) => data(each)[0])
    expect(rows.map((row) => row?.['status_id'])).toEqual(Array(5).fill(sampleRun(1)))
    expect(rows.map((row) => row?.['lifecycle'])).toEqual(['doing', 'doing', 'done', 'doing', 'done'])
  })

  test('[RUN-31][RUN-60] a request to a model is a row that its answer closes, or its failure', () => {
    const rows = [
      event('llm.request.started', { model: 'm' }),
      event('llm.request.completed', { responseId: 'r', model: 'm', usage: {} }),
      event('llm.request.failed', { model: 'm', error: 'no' }),
    ].map((each) => data(each)[0])
    const { spanId } = event('llm.request.started', { model: 'm' })
    expect(rows).toMatchObject([
      { status: 'thinking', detail: 'Thinking', model: 'm', status_id: spanId, lifecycle: 'doing' },
      { status: 'thinking', detail: 'Thought', status_id: spanId, lifecycle: 'done' },
      { status: 'thinking', detail: 'No answer', status_id: spanId, lifecycle: 'done' },
    ])
  })

  test('[RUN-30][RUN-37] idle and waiting agents are idle', () => {
    expect(data(event('agent.idle', { agentId: 'a' }))[0]).toMatchObject({ agent_id: 'a', status: 'idle' })
    expect(data(event('agent.waiting', { agentId: 'a', waitsFor: 'permission' }))[0]).toMatchObject({
      status: 'idle',
      detail: 'Waiting for permission',
    })
  })
})

test('[RUN-38] settings carry the project and the mode', () => {
  expect(data(event('settings.updated', { projectRoot: '/p', mode: 'chat' }))).toEqual([
    { ...envelope, type: 'SettingsUpdated', project_root: '/p', mode: 'chat' },
  ])
})

test('[RUN-39] a preview of the queue never splits a character', () => {
  const preview = `${'x'.repeat(99)}😀😀`
  const item = { id: 'm1', agentId: 'dev', preview, timestamp: '2026-01-27T10:00:00.000Z' }
  const queued = event('queue.updated', { projectRoot: '/p', agentId: 'dev', items: [item] })
  expect(data(queued)).toEqual([
    {
      ...envelope,
      type: 'QueueUpdated',
      project_root: '/p',
      agent_id: 'dev',
      items: [
        {
          id: 'm1',
          agent_id: 'dev',
          session_id: sampleSession(1),
          preview: 'x'.repeat(99),
          timestamp: item.timestamp,
        },
      ],
    },
  ])
})

test('[RUN-40] a token has no seq, because no event stands behind it', () => {
  const delta = { sessionId: sampleSession(1), runId: sampleRun(1), agentId: 'dev', token: 'hel' }
  expect(tokenFrame(delta)).toEqual({
    type: 'Token',
    data: {
      session_id: sampleSession(1),
      run_id: sampleRun(1),
      type: 'Token',
      agent_id: 'dev',
      token: 'hel',
    },
  })
  expect(tokenFrame({ ...delta, done: true, thinking: false, projectRoot: '/p' }).data).toMatchObject({
    done: true,
    thinking: false,
    project_root: '/p',
  })
})
