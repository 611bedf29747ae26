import { expect, test } from 'vitest'
import { golden } from '../../test/support/read-sessions.ts'
import { call, example, exampleName, goldenText, single } from '../../test/support/std-008.ts'
import type { MultiAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { checkResults, verificationOf } from '../core/delegation/read-outputs.ts'
import { parseJsonText } from '../core/json/parse-json-text.ts'
import { readSession } from './read-session.ts'
import { validateSession } from './validate.ts'

type Json = Record<string, unknown>

test('[LOG-3, LOG-127, COL-75] a valid file of either format is read as it is and reports no repair', () => {
  expect(readSession(single())).toEqual({ session: single(), repairs: [], kind: 'std-001-v3' })
  expect(readSession(example(), { filename: exampleName })).toEqual({
    session: example(),
    repairs: [],
    kind: 'std-008',
  })
})

test('[LOG-127] reading changes nothing in the value that was given', () => {
  const frozen = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) frozen(inner)
    return Object.freeze(value)
  }
  for (const name of [
    'v1-steps',
    'v2-phases',
    'late-drift',
    'role-prefixes',
    'early-title',
    'older-messages',
  ])
    expect(() => readSession(frozen(parseJsonText(goldenText(`${name}.json`))))).not.toThrow()
})

test('[LOG-127] a repair says where it was, what was found and what was done', () => {
  const read = readSession({ ...single(), status: 'completed' })
  expect(read.repairs).toEqual([
    { path: '/status', code: 'translated', message: '"completed" is read as success' },
  ])
})

test('[LOG-122] the steps of version 1 become calls and annotations', () => {
  const { session, kind, done } = golden('v1-steps')
  expect(kind).toBe('std-001-v2')
  expect(session.tool_calls.map((each) => [each.call_id, each.tool_name, each.output.status])).toEqual([
    ['step-001', 'requirement_input', 'success'],
    ['step-002', 'task_decomposition', 'success'],
    ['step-003', 'debug_fix', 'failed'],
  ])
  expect(session.phase_annotations?.map((each) => each.phase_type)).toEqual(['understand', 'plan', 'execute'])
  expect(session['steps']).toHaveLength(3)
  expect(done).toContain('lifted /phase_annotations')
})

test('[LOG-121] the phases of version 2 are kept, and those with calls become annotations', () => {
  const { session, kind } = golden('v2-phases')
  expect(kind).toBe('std-001-v2')
  expect(session.phases).toHaveLength(3)
  expect(session.loop_summary).toEqual({
    plan_execute_loops: 1,
    loop_resolved: true,
    loop_phase_ids: ['phase-003'],
  })
  expect(session.phase_annotations?.map((each) => [each.annotation_id, each.tool_call_range])).toEqual([
    ['phase-002', { start_call_id: 'tool-001', end_call_id: 'tool-002' }],
    ['phase-003', { start_call_id: 'tool-003', end_call_id: 'tool-003' }],
  ])
  const [explored] = session.phase_annotations ?? []
  expect(explored?.decisions).toHaveLength(1)
  expect(explored?.context_used).toHaveLength(1)
  expect((explored as Json | undefined)?.['original_context_used']).toHaveLength(1)
})

test('[LOG-121] calls that phases hold themselves are the calls of the session', () => {
  const { tool_calls: _none, ...head } = single()
  const phases = [{ phase_id: 'p1', phase_type: 'plan', tool_calls: [call('tool-001', 'Read', 1)] }]
  const { session } = readSession({ ...head, phases })
  expect(session.tool_calls.map((each) => each.call_id)).toEqual(['tool-001'])
})

test('[LOG-129, LOG-131, LOG-140, LOG-139] early files: title, no prompt, no calls, other times', () => {
  const { session, done } = golden('early-title')
  expect(session).toMatchObject({
    task_title: 'Layout',
    user_prompt: '',
    tool_calls: [],
    created_at: '2026-01-25T12:00:00Z',
    completed_at: '2026-01-25T13:00:00.000Z',
    agent: { model_id: 'model-1' },
  })
  for (const repair of [
    'renamed /task_title',
    'filled /user_prompt',
    'filled /tool_calls',
    'converted /created_at',
    'converted /completed_at',
  ])
    expect(done).toContain(repair)
})

test('[LOG-131, LOG-132, LOG-134, LOG-135] late files: other names, words for figures, ranges as lists, fields of their own', () => {
  const { session, done } = golden('late-drift')
  expect(session).toMatchObject({
    created_at: '2026-01-28T14:30:00Z',
    status: 'success',
    original_status: 'completed',
    summary: {
      text: 'Defined five topics.',
      total_duration_ms: 3_600_000,
      tool_calls_count: 3,
      files_modified: ['topics.json'],
    },
    deliverables: ['topics.json'],
    reflection: { issue: 'wrote the log too late' },
    team_mode: { team_id: 'team-3' },
    decisions: [{ choice: 'five' }],
  })
  expect(session.phase_annotations?.map((each) => each.tool_call_range)).toEqual([
    { start_call_id: 'tc_001', end_call_id: 'tc_002' },
    { start_call_id: 'tc_003', end_call_id: 'tc_003' },
    { start_call_id: 'tc_001', end_call_id: 'tc_003' },
  ])
  const [first, second, third] = session.tool_calls
  expect(first).toMatchObject({
    output: { result: { display: 'the types are clear' } },
    context_contribution: { type: 'knowledge', summary: 'five topics so far' },
  })
  expect(second?.context_contribution).toEqual({
    type: 'knowledge',
    summary: 'where topics live',
    original_type: 'exploration',
  })
  expect(third?.tool_name).toBe('审查')
  expect(done).toContain('renamed /created_at')
})

test('[LOG-133, LOG-20] participants without an id are named by type and place, and the architect among them leads', () => {
  const { collaboration } = golden('late-drift').session
  expect(
    collaboration.participants.map((agent) => [agent.agent_id, agent.agent_type, agent.original_agent_type]),
  ).toEqual([
    ['product_owner-01', 'architect', 'product_owner'],
    ['architect-02', 'architect', undefined],
    ['challenger-03', 'reviewer', 'challenger'],
    ['developer-04', 'developer', undefined],
    ['reviewer-05', 'reviewer', undefined],
  ])
  expect(collaboration.orchestrator.agent_id).toBe('architect-02')
})

test('[LOG-136] a collaboration without a trace of a second agent is refused by the validator and read as a single session', () => {
  const raw = parseJsonText(goldenText('late-drift.json'))
  expect(validateSession(raw).valid).toBe(false)
  const { session, done } = golden('late-drift')
  expect(session.collaboration).toMatchObject({ mode: 'single', original_mode: 'multi_agent' })
  for (const repair of ['filled /sub_sessions', 'filled /messages', 'downgraded /collaboration'])
    expect(done).toContain(repair)
})

test('[LOG-136] a collaboration whose only delegating call failed before anybody began is a single session', () => {
  const { session } = golden('late-drift')
  const task = { ...session.tool_calls[0], call_id: 'task-1', tool_name: 'Task', subagent_info: undefined }
  const failed = { ...task, output: { status: 'failed', error: 'denied' } }
  const collaboration = { ...session.collaboration, mode: 'multi_agent' }
  const read = readSession({ ...session, collaboration, tool_calls: [failed], phase_annotations: undefined })
  expect(read.session).toMatchObject({ collaboration: { mode: 'single' }, sub_sessions: [] })
})

test('[LOG-136] roles that only the call ids tell become sub-sessions', () => {
  const { session, done } = golden('role-prefixes')
  expect(session.collaboration.mode).toBe('multi_agent')
  expect(
    session.sub_sessions.map((sub) => [sub.agent.agent_id, sub.tool_calls.map((each) => each.call_id)]),
  ).toEqual([
    ['architect', ['architect-explore-001', 'architect-answer-001']],
    ['design-authority', ['da-risk-001']],
    ['developer', ['developer-impl-001']],
  ])
  expect(session.tool_calls.map((each) => each.call_id)).toEqual([
    'po-init-001',
    'task-sub-architect',
    'task-sub-da',
    'task-sub-developer',
    'po-confirm-001',
  ])
  expect(done.filter((repair) => repair.startsWith('made'))).toHaveLength(6)
})

test('[LOG-138] a Task call in another category is read as interaction', () => {
  const [first] = golden('older-messages').session.tool_calls
  expect(first).toMatchObject({
    tool_category: 'interaction',
    original_tool_category: 'task_management',
    input: { params: { prompt: 'build' } },
  })
})

test('[LOG-32, LOG-33, LOG-30, COL-49, COL-52] messages in the older shape get payloads, types and numbers', () => {
  const { session, done } = golden('older-messages')
  expect(
    session.messages.map((each) => [each.message_id, each.sequence_number, each.message_type, each.payload]),
  ).toEqual([
    ['m2', 2, 'task_progress', { content: 'half way', task_id: 'T1' }],
    ['m1', 1, 'task_assignment', { task: { task_id: 'T1', task_description: 'build' } }],
    ['m3', 3, 'status_response', { content: 'all calm', state: 'all calm' }],
  ])
  expect(session.messages[2]).toMatchObject({
    original_reply_to: 'm9',
    original_message_type: 'status_update',
  })
  expect(session.messages[2]).not.toHaveProperty('reply_to')
  for (const repair of [
    'renamed /messages/0/payload',
    'moved /messages/0/payload/task_id',
    'filled /messages/1/sequence_number',
  ])
    expect(done).toContain(repair)
})

test('[LOG-46, LOG-48, COL-43] plain paths become file changes and notes become implementation_notes', () => {
  const [sub] = golden('older-messages').session.sub_sessions
  expect(sub?.output).toMatchObject({
    changes: { files_created: [{ path: 'a.ts' }], files_modified: [{ path: 'b.ts', lines_added: 3 }] },
    implementation_notes: 'mind the gap',
  })
})

test('[LOG-50, LOG-51, LOG-55, LOG-56, COL-47] a review with a nested location, other words and no id is read', () => {
  const sub = golden('older-messages').session.sub_sessions[1]
  expect(sub?.output).toMatchObject({
    review_id: 'review-T1',
    verdict: 'changes_requested',
    original_verdict: 'request changes',
    findings: [
      {
        severity: 'major',
        category: 'test',
        file: 'a.ts',
        line: 4,
        location: { file: 'a.ts', line_start: 4, line_end: 9 },
      },
    ],
  })
})

test('[LOG-51] a verdict nobody can read does not count as an approval', () => {
  const session = example()
  Object.assign(session.sub_sessions[1]?.output ?? {}, { verdict: 'passt schon' })
  const [, sub] = (readSession(session).session as MultiAgentSession).sub_sessions
  expect(sub?.output).toMatchObject({ verdict: 'changes_requested', original_verdict: 'passt schon' })
})

test('[LOG-52] checks are booleans in the file, and inside they have what they printed', () => {
  const sub = golden('older-messages').session.sub_sessions[1]
  if (!sub?.output || !('verdict' in sub.output)) throw new Error('expected a review')
  expect(sub.output.verification).toEqual({
    tests_passed: true,
    type_check_passed: false,
    custom_checks: { size: true, lint: true },
  })
  const inside = checkResults(sub.output)
  expect(inside).toEqual({
    tests: { passed: true, output: '12 passed' },
    type_check: { passed: false, error: 'TS1' },
    custom: { size: { passed: true }, lint: { passed: true } },
  })
  expect(verificationOf(inside)).toEqual(sub.output.verification)
})

test('[LOG-25] output that is neither a developer’s nor a reviewer’s is kept as it is', () => {
  const { session, done } = golden('older-messages')
  expect(session.sub_sessions[2]).toMatchObject({
    original_output: { answer: 42 },
    status: 'in_progress',
    original_status: 'running',
  })
  expect(session.sub_sessions[2]).not.toHaveProperty('output')
  expect(done).toContain('set_aside /sub_sessions/2/output')
})

test('[LOG-18, LOG-64] consensus is peer to peer, and a verdict that is not final is kept beside', () => {
  const { session } = golden('older-messages')
  expect(session.collaboration).toMatchObject({ pattern: 'peer_to_peer', original_pattern: 'consensus' })
  expect(session.summary).toMatchObject({ original_final_verdict: 'changes_requested' })
})
