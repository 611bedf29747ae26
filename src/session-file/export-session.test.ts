import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventStreams } from '../../test/support/events.ts'
import { runs } from '../../test/support/size.ts'
import { collaboration, developer, fileOf, reviewer } from '../../test/support/std-008-file.ts'
import { LiveSession, liveSessions, verdictOn } from '../../test/support/std-008-live.ts'
import { AppError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/event.ts'
import { sessionFileText, sessionFromEvents } from './export-session.ts'
import { delegations, indexSession, triggerOf } from './session-walk.ts'
import { validateSession } from './validate.ts'

test('[LOG-102, LOG-31] what is written of any sane session has no error, no warning and nothing beyond the format', () => {
  fc.assert(
    fc.property(liveSessions, (events) => {
      const { document } = fileOf(events)
      for (const { message_id } of document.messages ?? [])
        expect(message_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/)
    }),
    runs(200),
  )
})

test('[LOG-102] whatever a journal holds, the file is valid', () => {
  fc.assert(
    fc.property(eventStreams(80), (events) => {
      try {
        const { document } = sessionFromEvents(events, { sequence: 1 })
        expect(validateSession(document).errors).toEqual([])
      } catch (error) {
        // Only a journal without a single event of the session has no file.
        expect(error).toMatchObject({ code: 'not_found' })
      }
    }),
    runs(200),
  )
})

test('[LOG-73, LOG-80] the same events give the same bytes, also after the file was deleted', () => {
  const live = collaboration()
  live.complete()
  const text = sessionFileText(fileOf(live.events))
  expect(sessionFileText(fileOf(JSON.parse(JSON.stringify(live.events)) as AgentEvent[]))).toBe(text)
  expect(text.endsWith('}\n')).toBe(true)
})

test('[LOG-12, LOG-8, LOG-9, LOG-5] one delegation and no review is a single-agent file with subagent_info', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'task-a', agent: developer('A'), calls: ['Read', 'Write', 'Read'] })
  live.complete()
  const { document, kind, filename } = fileOf(live.events)
  expect([kind, filename]).toEqual(['std-001', '2026-03-01-003-add-login.json'])
  expect(document.session_id).toBe('2026-03-01-003-add-login')
  expect(document).not.toHaveProperty('sub_sessions')
  expect(document.tool_calls[0]?.subagent_info).toEqual({
    subagent_type: 'developer',
    tool_uses: 3,
    tools_breakdown: [
      { tool_name: 'Read', count: 2 },
      { tool_name: 'Write', count: 1 },
    ],
  })
})

test('[LOG-13, LOG-4, LOG-9] several delegations make a multi-agent file', () => {
  const live = new LiveSession()
  for (const id of ['A', 'B']) live.delegate(live.main, { id, agent: developer(id) })
  const { document, kind, filename } = fileOf(live.events)
  expect([kind, filename]).toEqual(['std-008', '2026-03-01-003-add-login-multi.json'])
  expect(document.session_id).toBe('2026-03-01-003-add-login-multi')
})

test('[LOG-13] one delegation that reviews makes a multi-agent file', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'look', agent: reviewer, output: verdictOn('check', 'approved') })
  expect(fileOf(live.events).kind).toBe('std-008')
})

test('[LOG-2, LOG-66, LOG-72, LOG-77, COL-39, COL-56] calls stay with who made them, and links hold both ways', () => {
  const { document } = fileOf(collaboration().events)
  expect(document.tool_calls.map((each) => each.call_id)).toEqual([
    'tool-1',
    'task-a',
    'task-b',
    'look-1',
    'task-c',
    'look-2',
  ])
  expect(document.sub_sessions.map((sub) => sub.tool_calls.map((each) => each.tool_name))).toEqual([
    ['Read', 'Write'],
    ['Edit'],
    ['Read'],
    ['Edit'],
    ['Bash'],
  ])
  const index = indexSession(document)
  for (const sub of document.sub_sessions) {
    const trigger = triggerOf(index, sub)
    expect(trigger?.subagent_info?.sub_session_id).toBe(sub.sub_session_id)
    const started = delegations(index).find(({ call }) => call === trigger)
    expect([started?.owner, started?.subs]).toEqual([index.main, [sub.sub_session_id]])
  }
})

test('[LOG-75] calls stand in the order of their start, also where they overlap or were made up for an agent', () => {
  const live = new LiveSession()
  const [first, second] = [
    live.call(live.main, { id: 'first', tool: 'Read', end: 'open' }),
    live.call(live.main, { id: 'second', tool: 'Read', end: 'open' }),
  ]
  const spawned = live.spawn(live.main, developer('A'))
  live.add(live.main, 'tool.call.completed', { callId: 'second', tool: 'Read' }, second)
  live.add(live.main, 'tool.call.completed', { callId: 'first', tool: 'Read' }, first)
  live.call(live.main, { id: 'third', tool: 'Read' })
  live.end(spawned, 'completed')
  const calls = fileOf(live.events).document.tool_calls
  expect(calls.map((each) => each.original_tool_name ?? each.call_id)).toEqual([
    'first',
    'second',
    'sm.spawn',
    'third',
  ])
})

test('[LOG-67] delegation by another tool is written as Task, with the tool’s own name beside', () => {
  const { document } = fileOf(collaboration().events)
  expect(
    document.tool_calls.map((each) => [each.tool_name, each.original_tool_name, each.tool_category]),
  ).toEqual([
    ['Read', undefined, 'perception'],
    ['Task', undefined, 'interaction'],
    ['Task', 'Agent', 'interaction'],
    ['Task', undefined, 'interaction'],
    ['Task', 'delegate_to_agent', 'interaction'],
    ['Task', undefined, 'interaction'],
  ])
})

test('[LOG-67] an agent that no call started, or a shell did, gets a Task call too', () => {
  const live = new LiveSession()
  const shell = live.call(live.main, { id: 'sh', tool: 'Bash', params: { command: 'sm spawn developer x' } })
  live.end(live.spawn(live.main, { ...developer('A'), callId: 'sh', callSpan: shell }), 'completed')
  live.end(live.spawn(live.main, developer('B')), 'completed')
  const { document } = fileOf(live.events)
  expect(document.tool_calls.map((each) => [each.tool_name, each.original_tool_name])).toEqual([
    ['Task', 'Bash'],
    ['Task', 'sm.spawn'],
  ])
})

test('[LOG-24] agents below agents fit the flat list by naming their parent', () => {
  const live = new LiveSession()
  const outer = live.spawn(live.main, { agentId: 'lead', agentType: 'team-lead' })
  live.delegate(outer, { id: 'inner', agent: developer('A'), calls: ['Read'] })
  live.end(outer, 'completed')
  const { document } = fileOf(live.events)
  const [lead, inner] = document.sub_sessions
  expect(lead).toMatchObject({
    parent_session_id: document.session_id,
    agent: { agent_type: 'architect', original_agent_type: 'team-lead' },
  })
  expect(inner).toMatchObject({ parent_session_id: lead?.sub_session_id, triggered_by_call_id: 'inner' })
  expect(lead?.tool_calls.map((each) => each.call_id)).toEqual(['inner'])
})

test('[LOG-24] spawned sessions of their own are sub-sessions, and sessions outside the tree are left out', () => {
  const live = new LiveSession()
  const child = {
    ...live.main,
    sessionId: 'ses_00000000000000000000000002' as never,
    runId: 'run_00000000000000000000000042' as never,
    spanId: '00000000000000aa' as never,
    agentId: 'kid',
  }
  live.add(child, 'session.started', {
    parentSessionId: live.main.sessionId,
    prompt: 'help',
    agent: { agentId: 'kid', agentType: 'Engineer' },
  })
  live.call(child, { id: 'c1', tool: 'Read' })
  live.add(child, 'session.failed', { reason: 'out of tokens' })
  const stranger = {
    ...child,
    sessionId: 'ses_00000000000000000000000009' as never,
    runId: 'run_00000000000000000000000099' as never,
    spanId: '00000000000000bb' as never,
  }
  live.add(stranger, 'session.started', { prompt: 'other' })
  live.call(stranger, { id: 'x', tool: 'Read' })
  live.delegate(live.main, { id: 'A', agent: developer('A') })
  const { document } = fileOf(live.events)
  expect(
    document.sub_sessions.map((sub) => [
      sub.agent.agent_id,
      sub.status,
      sub.termination_reason,
      sub.tool_calls.length,
    ]),
  ).toEqual([
    ['kid', 'failed', 'error: out of tokens', 1],
    ['dev-A', 'success', undefined, 0],
  ])
})

test('[LOG-20, LOG-19] types beyond the three are written by what the agent does, its own type beside', () => {
  const live = new LiveSession({ agent: { agentId: 'boss', agentType: 'Coordinator' } })
  live.delegate(live.main, { id: 'A', agent: { agentId: 'a', agentType: 'Explore', instanceId: 'i-1' } })
  live.delegate(live.main, {
    id: 'B',
    agent: { agentId: 'b', agentType: 'auditing-bot', task: { taskId: 'X', description: '' } },
    output: verdictOn('X', 'approved'),
  })
  const { collaboration: together } = fileOf(live.events).document
  expect(together.orchestrator).toEqual({
    agent_id: 'boss',
    agent_type: 'architect',
    original_agent_type: 'Coordinator',
  })
  expect(together.participants).toEqual([
    { agent_id: 'a', agent_type: 'developer', instance_id: 'i-1', original_agent_type: 'Explore' },
    { agent_id: 'b', agent_type: 'reviewer', original_agent_type: 'auditing-bot' },
  ])
})

test('[LOG-18, LOG-74, COL-5] the collaboration stands in the first file, and consensus is peer to peer', () => {
  const live = new LiveSession({
    collaboration: {
      mode: 'multi_agent',
      pattern: 'consensus',
      orchestrator: { agentId: 'main', agentType: 'architect' },
      participants: [],
    },
  })
  live.spawn(live.main, developer('A'))
  live.spawn(live.main, developer('B'))
  const { document } = fileOf(live.events)
  expect(document.collaboration).toMatchObject({
    mode: 'multi_agent',
    pattern: 'peer_to_peer',
    original_pattern: 'consensus',
  })
  expect(document.collaboration.participants).toHaveLength(2)
})

test('[LOG-22, LOG-76] an agent that still works is in progress, without an end and an output', () => {
  const live = new LiveSession()
  for (const id of ['A', 'B'])
    live.call(live.spawn(live.main, developer(id)), { id: `${id}1`, tool: 'Bash', end: 'open' })
  const { document } = fileOf(live.events)
  for (const sub of document.sub_sessions) {
    expect(sub.status).toBe('in_progress')
    expect(sub).not.toHaveProperty('completed_at')
    expect(sub).not.toHaveProperty('output')
    expect(sub.tool_calls[0]).toMatchObject({ open: true, output: { status: 'failed' } })
  }
  expect(document).toMatchObject({ status: 'in_progress' })
  expect(document).not.toHaveProperty('completed_at')
})

test('[LOG-26, LOG-78, COL-61] every way to end closes the sub-session with a status, an output and the word beside', () => {
  const live = new LiveSession()
  const ways = ['completed', 'failed', 'cancelled', 'killed', 'abandoned'] as const
  for (const end of ways) live.delegate(live.main, { id: end, agent: developer(end), calls: ['Write'], end })
  const { document } = fileOf(live.events)
  expect(
    document.sub_sessions.map((sub) => [
      sub.status,
      sub.termination_reason,
      sub.output && 'changes' in sub.output && sub.output.status,
    ]),
  ).toEqual([
    ['success', undefined, 'completed'],
    ['failed', 'error', 'failed'],
    ['failed', 'cancelled', 'failed'],
    ['failed', 'killed', 'failed'],
    ['failed', 'abandoned', 'failed'],
  ])
  for (const sub of document.sub_sessions) {
    expect(sub.completed_at).toBeDefined()
    expect(sub.output).toMatchObject({ changes: { files_created: [{ path: 'Write-0.ts' }] } })
  }
})

test('[LOG-26] the session itself says how it ended, and a reopened one is in progress again', () => {
  for (const [outcome, status, reason] of [
    ['completed', 'success', undefined],
    ['killed', 'failed', 'killed'],
    ['abandoned', 'failed', 'abandoned'],
  ] as const) {
    const live = new LiveSession()
    live.complete(outcome)
    expect(fileOf(live.events).document).toMatchObject({
      status,
      ...(reason ? { termination_reason: reason } : {}),
    })
    live.add(live.main, 'session.reopened', {})
    expect(fileOf(live.events).document.status).toBe('in_progress')
  }
})

test('[LOG-97] a Task that returned at once spans the agent that worked on behind it', () => {
  const live = new LiveSession()
  const span = live.call(live.main, { id: 'a', tool: 'Task' })
  const run = live.spawn(live.main, { ...developer('A'), callId: 'a', callSpan: span })
  live.delegate(live.main, { id: 'b', agent: developer('B') })
  live.call(run, { id: 'x', tool: 'Read' })
  live.end(run, 'completed')
  live.complete()
  const [task] = fileOf(live.events).document.tool_calls
  expect(Date.parse(task?.ended_at ?? '')).toBeGreaterThan(Date.parse(String(task?.original_ended_at)))
})

test('[LOG-109] a denied call failed, and says which gate refused it', () => {
  const live = new LiveSession()
  const span = live.call(live.main, { id: 'd', tool: 'Bash', end: 'open' })
  live.add(
    live.main,
    'tool.call.denied',
    { callId: 'd', tool: 'Bash', gate: 'policy', reason: 'no rm' },
    span,
  )
  expect(fileOf(live.events).document.tool_calls[0]?.output).toEqual({
    status: 'failed',
    error: 'denied (policy): no rm',
  })
})

test('[LOG-73] texts in blobs are fetched, redacted ones stay redacted', () => {
  const live = new LiveSession()
  const ref = { $blob: `sha256:${'0'.repeat(64)}`, bytes: 90_000, pack: 1, offset: 0, preview: 'the start' }
  const span = live.call(live.main, { id: 'b', tool: 'Read', end: 'open' })
  live.add(
    live.main,
    'tool.call.completed',
    { callId: 'b', tool: 'Read', result: { display: ref, token: '[redacted:github-token]' } },
    span,
  )
  const whole = fileOf(live.events, { resolve: () => 'the whole text' }).document
  expect(whole.tool_calls[0]?.output.result).toEqual({
    display: 'the whole text',
    token: '[redacted:github-token]',
  })
  expect(fileOf(live.events).document.tool_calls[0]?.output.result).toMatchObject({
    display: 'the start… [90000 bytes]',
  })
})

test('[LOG-73] a session the journal does not have is refused', () => {
  expect(() => sessionFromEvents([], { sequence: 1 })).toThrow(AppError)
  expect(() =>
    sessionFromEvents(collaboration().events, {
      sequence: 1,
      session: 'ses_00000000000000000000000077' as never,
    }),
  ).toThrow(/no events/)
})
