import { expect, test } from 'vitest'
import {
  annotate,
  callOf,
  clean,
  faults,
  faulty,
  finds,
  message,
  nest,
  review,
  sub,
} from '../../test/support/faulty-sessions.ts'
import { sized } from '../../test/support/size.ts'
import { call, codes, example, exampleName, single } from '../../test/support/std-008.ts'
import type { PhaseAnnotation } from '../contract/session-file/agent-session.ts'
import { type IssueCode, issueCodes } from '../contract/session-file/issue.ts'
import type { SubAgentSession } from '../contract/session-file/multi-agent-session.ts'
import { asMultiAgent } from './multi-agent.ts'
import { validateAgentSession, validateMultiAgentSession, validateSession } from './validate.ts'

test('[LOG-85] every kind of fault is found at its path, and valid means that none is an error', () => {
  for (const code of Object.keys(faults) as IssueCode[]) {
    finds(code)
    const { valid, errors } = faulty(code)
    expect([code, valid]).toEqual([code, errors.length === 0])
    if (issueCodes[code].severity === 'warning') expect([code, codes(errors)]).toEqual([code, []])
  }
})

test('[LOG-85] a session without faults has none', () => {
  expect(validateMultiAgentSession(clean(), { filename: exampleName })).toEqual({
    valid: true,
    errors: [],
    warnings: [],
  })
})

test('[LOG-101] the standard’s own example is valid, and its declared counts and durations are the only warnings', () => {
  const { valid, errors, warnings } = validateMultiAgentSession(example(), { filename: exampleName })
  expect([valid, errors]).toEqual([true, []])
  expect(codes(warnings)).toEqual([
    'count_differs /tool_calls/1/subagent_info/tool_uses',
    'count_differs /tool_calls/2/subagent_info/tool_uses',
    'duration_differs /summary/agents/architect/duration_ms',
    'count_differs /summary/agents/developers/0/tool_calls_count',
    'count_differs /summary/agents/reviewer/tool_calls_count',
  ])
})

test('[LOG-86] a collaboration that is absent or lacks a field is an error', () => {
  for (const key of ['mode', 'pattern', 'orchestrator', 'participants']) {
    const session = clean()
    Reflect.deleteProperty(session.collaboration, key)
    expect(codes(validateMultiAgentSession(session).errors)).toContain(`schema /collaboration/${key}`)
  }
  const { collaboration: _gone, ...rest } = clean()
  expect(codes(validateMultiAgentSession(rest).errors)).toEqual(['schema /collaboration'])
})

test('[LOG-87, LOG-17] a multi_agent session without sub-sessions is an error, a single one is not', () => {
  finds('no_sub_session')
  expect(validateMultiAgentSession(asMultiAgent(single())).valid).toBe(true)
})

test('[LOG-88] messages may be empty but not absent', () => {
  const empty = { ...clean(), messages: [] }
  expect(validateMultiAgentSession(empty).valid).toBe(true)
  const { messages: _gone, ...rest } = clean()
  expect(codes(validateMultiAgentSession(rest).errors)).toEqual(['schema /messages'])
})

test('[LOG-89] a trigger that is missing or does not delegate is an error', () => {
  finds('trigger_missing')
  finds('trigger_not_delegation')
  for (const tool of ['Task', 'Agent', 'delegate_to_agent']) {
    const session = clean()
    callOf(session, 1).tool_name = tool
    expect(validateMultiAgentSession(session).errors).toEqual([])
  }
})

test('[LOG-90, LOG-24, LOG-72, COL-53] a nested trigger is looked up in its own parent, also when another owner has the same call id', () => {
  const session = clean()
  const nested = nest(session)
  expect(codes(validateMultiAgentSession(session).errors)).toEqual([])
  nested.parent_session_id = session.session_id
  expect(codes(validateMultiAgentSession(session).errors)).toEqual([
    'trigger_not_delegation /sub_sessions/2/triggered_by_call_id',
    'task_unlinked /sub_sessions/0/tool_calls/2',
  ])
})

test('[LOG-91] a Task call that names a missing sub-session is an error', () => finds('sub_session_missing'))

test('[LOG-92, LOG-66] a Task call that does not name its sub-session is a warning; one that has none is an error', () => {
  finds('link_one_way')
  finds('task_unlinked')
  finds('link_mismatch')
})

test('[LOG-93] a message from or to a stranger is an error', () => {
  finds('agent_unknown')
  const session = clean()
  message(session, 0).from_agent = { agent_id: 'stranger', agent_type: 'developer' }
  expect(codes(validateMultiAgentSession(session).errors)).toEqual([
    'agent_unknown /messages/0/from_agent/agent_id',
  ])
})

test('[LOG-93] a stranger is found also where the collaboration, a call or another message has a fault', () => {
  const strange = () => {
    const session = clean()
    message(session, 0).from_agent = { agent_id: 'stranger', agent_type: 'developer' }
    return session
  }
  const found = (session: object) => codes(validateMultiAgentSession(session).errors)
  const stranger = 'agent_unknown /messages/0/from_agent/agent_id'
  for (const collaboration of [
    { ...strange().collaboration, pattern: 'swarm' },
    { ...strange().collaboration, mode: undefined },
    { ...strange().collaboration, orchestrator: undefined },
    { ...strange().collaboration, participants: [null, ...strange().collaboration.participants] },
  ])
    expect(found({ ...strange(), collaboration })).toContain(stranger)
  expect(found({ ...strange(), tool_calls: 'none' })).toContain(stranger)
  const session = strange()
  Object.assign(message(session, 1), { message_type: 'shout' })
  expect(found(session)).toContain(stranger)
  for (const messages of [null, 'x', [null, 7, { from_agent: 'dev' }]])
    expect(found({ ...strange(), messages })).not.toContain(stranger)
})

test('[LOG-94] two calls with one id in the same owner are an error', () => finds('duplicate_id'))

test('[LOG-95] two sub-sessions, messages, participants, annotations or findings with one id are an error', () => {
  const session = clean()
  session.messages.push({ ...message(session, 0), sequence_number: 6 })
  session.collaboration.participants.push({ agent_id: 'developer-01', agent_type: 'developer' })
  annotate(session, 'tool-001', 'tool-002')
  session.phase_annotations?.push(...structuredClone(session.phase_annotations))
  const finding = { finding_id: 'f', severity: 'minor', category: 'bug', file: 'a', description: '' } as const
  review(session).findings.push(finding, { ...finding })
  sub(session, 1).sub_session_id = 'sub-001'
  expect(
    codes(validateMultiAgentSession(session).errors).filter((code) => code.startsWith('duplicate')),
  ).toEqual([
    'duplicate_id /sub_sessions/1/sub_session_id',
    'duplicate_id /messages/5/message_id',
    'duplicate_id /collaboration/participants/2/agent_id',
    'duplicate_id /phase_annotations/1/annotation_id',
    'duplicate_id /sub_sessions/1/output/findings/1/finding_id',
  ])
})

test('[LOG-96] declared counts that differ from the records are warnings', () => {
  finds('count_differs')
  const session = clean()
  session.summary.review_iterations = 4
  session.summary.final_verdict = 'rejected'
  session.summary.tool_calls_count = 99
  expect(codes(validateMultiAgentSession(session).warnings)).toEqual([
    'count_differs /summary/tool_calls_count',
    'count_differs /summary/review_iterations',
    'count_differs /summary/final_verdict',
  ])
})

test('[LOG-97] a duration that does not fit its times is a warning, an end before its start an error', () => {
  finds('duration_differs')
  finds('time_reversed')
  // A time without fractions hides up to a second; one with them does not.
  const session = clean()
  const [first] = session.tool_calls
  if (first) first.duration_ms = 1999
  expect(codes(validateMultiAgentSession(session).warnings)).toEqual([])
  Object.assign(first ?? {}, { started_at: '2026-01-26T10:00:05.000Z', ended_at: '2026-01-26T10:00:06.000Z' })
  expect(codes(validateMultiAgentSession(session).warnings)).toContain(
    'duration_differs /tool_calls/0/duration_ms',
  )
})

test('[LOG-98] an assignment that nobody acknowledged is a warning', () => finds('unacknowledged'))

test('[LOG-99] a completion without an assignment and a result without a request are warnings', () => {
  finds('unassigned')
  finds('unrequested')
  const session = clean()
  session.messages.push({ ...message(session, 1), message_id: 'msg-006', sequence_number: 6 })
  expect(codes(validateMultiAgentSession(session).warnings)).toEqual(['unassigned /messages/5'])
})

test('[LOG-100] an unknown parent and a ring of parents are errors', () => {
  finds('parent_missing')
  finds('parent_cycle')
  const session = clean()
  sub(session, 0).parent_session_id = 'sub-001'
  expect(codes(validateMultiAgentSession(session).errors)).toContain(
    'parent_cycle /sub_sessions/0/parent_session_id',
  )
})

test('[LOG-28, LOG-30, LOG-42] replies go back to earlier messages and numbers run from 1', () => {
  for (const code of [
    'reply_missing',
    'reply_later',
    'acknowledgment_reply',
    'sequence_duplicate',
    'sequence_gap',
    'correlation_single',
  ] as const)
    finds(code)
})

test('[LOG-31] any id that is not empty is taken', () => {
  const session = clean()
  message(session, 0).message_id = ''
  expect(codes(validateMultiAgentSession(session).errors)).toContain('schema /messages/0/message_id')
})

test('[LOG-58] a required change names findings of its own review', () => finds('finding_unknown'))

test('[LOG-71] a review keeps its own task and the one it reviewed', () => {
  expect([sub(clean(), 1).task.task_id, review(clean()).task_id]).toEqual(['review-001', 'task-001'])
  const session = clean()
  review(session).task_id = 'task-999'
  expect(codes(validateMultiAgentSession(session).warnings)).toContain(
    'task_unknown /sub_sessions/1/output/task_id',
  )
})

test('[LOG-107] calls that are not in the order of their start are a warning', () => finds('out_of_order'))

test('[LOG-117, COL-54] annotations may overlap, leave calls out and span sub-sessions, but cover calls that are there', () => {
  finds('annotation_range')
  const session = clean()
  annotate(session, 'tool-001', 'rev-tool-002')
  session.phase_annotations?.push({
    ...(session.phase_annotations[0] as PhaseAnnotation),
    annotation_id: 'ann-2',
  })
  expect(codes(validateMultiAgentSession(session).errors)).toEqual([])
})

test('[LOG-11, LOG-137] a file name that disagrees with its content is only a warning', () => {
  finds('filename_differs')
  finds('stem_differs')
  const wrong = validateSession(single(), { filename: '/tmp/2026-01-26-002-read-files-multi.json' })
  expect([wrong.valid, codes(wrong.warnings)]).toEqual([
    true,
    ['filename_differs ', 'stem_differs /session_id'],
  ])
})

test('[LOG-103] a single session is checked for what it has: calls, annotations, times, counts', () => {
  expect(validateAgentSession(single())).toEqual({ valid: true, errors: [], warnings: [] })
  const session = single()
  session.tool_calls.push({ ...call('tool-001', 'Read', 2), ended_at: '2026-01-26T09:00:00Z' })
  session.phase_annotations = [
    {
      annotation_id: 'a',
      phase_type: 'plan',
      tool_call_range: { start_call_id: 'x', end_call_id: 'tool-001' },
      annotated_by: 'auto',
      annotated_at: '2026-01-26T10:00:00Z',
      confidence: 'low',
    },
  ]
  expect(codes(validateAgentSession(session).errors)).toEqual([
    'duplicate_id /tool_calls/2/call_id',
    'annotation_range /phase_annotations/0/tool_call_range/start_call_id',
    'time_reversed /tool_calls/2/ended_at',
  ])
})

test('[LOG-85] a field that is wrong does not hide a broken link beside it', () => {
  const session = clean()
  sub(session, 0).triggered_by_call_id = 'tool-999'
  Reflect.deleteProperty(session, 'task_title')
  const found = codes(validateMultiAgentSession(session).errors)
  expect(found).toContain('schema /task_title')
  expect(found).toContain('trigger_missing /sub_sessions/0/triggered_by_call_id')
})

test('[LOG-85] an unknown field of many records is reported once, with how often it stands there', () => {
  const { warnings } = faulty('unknown_field')
  expect(warnings).toEqual([
    {
      code: 'unknown_field',
      path: '/tool_calls/0/mood',
      message: 'not a field of the format, 3 times',
      severity: 'warning',
    },
  ])
})

test('[LOG-85] any value at all gets an answer', () => {
  for (const value of [
    null,
    undefined,
    1,
    'x',
    [],
    {},
    { collaboration: null },
    { collaboration: {}, sub_sessions: [null] },
  ])
    for (const validate of [validateMultiAgentSession, validateAgentSession, validateSession])
      expect(validate(value).valid).toBe(false)
})

test('[LOG-85] a file of thousands of chained sub-sessions is checked without searching or overflowing', () => {
  const session = clean()
  let parent = sub(session, 0)
  const list: SubAgentSession[] = []
  for (let i = 0; i < sized(20_000, 5000); i++) {
    parent.tool_calls.push({
      ...call(`task-${i}`, 'Task', 100),
      subagent_info: { subagent_type: 'x', sub_session_id: `deep-${i}` },
    })
    const next = {
      ...sub(session, 0),
      sub_session_id: `deep-${i}`,
      parent_session_id: parent.sub_session_id,
      triggered_by_call_id: `task-${i}`,
      tool_calls: [],
    }
    list.push(next)
    parent = next
  }
  session.sub_sessions.push(...list)
  expect(validateMultiAgentSession(session).errors).toEqual([])
})
