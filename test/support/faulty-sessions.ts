import { expect } from 'vitest'
import { type IssueCode, issueCodes } from '../../src/contract/session-file/issue.ts'
import type {
  MultiAgentSession,
  SubAgentSession,
} from '../../src/contract/session-file/multi-agent-session.ts'
import type { ReviewerOutput } from '../../src/contract/session-file/outputs.ts'
import { validateMultiAgentSession } from '../../src/session-file/validate.ts'
import { call, example } from './std-008.ts'

/** The example without its known flaws: no warning, no error. */
export function clean(): MultiAgentSession {
  const session = example()
  session.agent.model_id = 'm'
  for (const [i, count] of [
    [1, 2],
    [2, 2],
  ] as const) {
    const info = session.tool_calls[i]?.subagent_info
    if (info) info.tool_uses = count
  }
  const { agents } = session.summary
  agents.architect.duration_ms = 421_000
  for (const agent of [...agents.developers, agents.reviewer]) if (agent) agent.tool_calls_count = 2
  const [assignment] = session.messages
  if (assignment)
    session.messages.push({
      ...assignment,
      message_id: 'msg-005',
      sequence_number: 5,
      from_agent: assignment.to_agent,
      to_agent: assignment.from_agent,
      message_type: 'acknowledgment',
      payload: { acknowledged_message_id: 'msg-001', accepted: true },
      reply_to: 'msg-001',
    })
  return session
}

export const sub = (session: MultiAgentSession, i: number) => session.sub_sessions[i] as SubAgentSession
export const message = (session: MultiAgentSession, i: number) =>
  session.messages[i] as MultiAgentSession['messages'][number]
export const callOf = (session: MultiAgentSession, i: number) =>
  session.tool_calls[i] as MultiAgentSession['tool_calls'][number]
export const review = (session: MultiAgentSession) => sub(session, 1).output as ReviewerOutput

/** A sub-session below the first one, started by a Task call of it. */
export function nest(session: MultiAgentSession): SubAgentSession {
  const parent = sub(session, 0)
  parent.tool_calls.push({
    ...call('tool-001', 'Task', 100),
    subagent_info: { subagent_type: 'developer', sub_session_id: 'sub-003' },
  })
  const nested = { ...structuredClone(parent), sub_session_id: 'sub-003', parent_session_id: 'sub-001' }
  Object.assign(nested, {
    triggered_by_call_id: 'tool-001',
    tool_calls: [],
    started_at: '2026-01-26T10:01:40Z',
    completed_at: '2026-01-26T10:01:41Z',
  })
  session.sub_sessions.push(nested)
  return nested
}

/** One way to bring about each kind of fault, and where it must be found. */
export const faults: Record<
  IssueCode,
  { path: string; make: (session: MultiAgentSession) => unknown; filename?: string }
> = {
  too_deep: {
    path: '/x',
    make: (s) => {
      let deep: unknown = 1
      for (let i = 0; i < 250; i++) deep = [deep]
      return Object.assign(s, { x: deep })
    },
  },
  schema: {
    path: '/sub_sessions/1/output/verdict',
    make: (s) => Object.assign(review(s), { verdict: 'fine' }),
  },
  no_sub_session: {
    path: '/sub_sessions',
    make: (s) => {
      s.sub_sessions = []
      s.tool_calls.length = 1
    },
  },
  duplicate_id: {
    path: '/sub_sessions/0/tool_calls/1/call_id',
    make: (s) => {
      for (const each of sub(s, 0).tool_calls) each.call_id = 'same'
    },
  },
  parent_missing: {
    path: '/sub_sessions/0/parent_session_id',
    make: (s) => {
      sub(s, 0).parent_session_id = 'nobody'
    },
  },
  parent_cycle: {
    path: '/sub_sessions/0/parent_session_id',
    make: (s) => {
      sub(s, 0).parent_session_id = 'sub-002'
      sub(s, 1).parent_session_id = 'sub-001'
    },
  },
  trigger_missing: {
    path: '/sub_sessions/0/triggered_by_call_id',
    make: (s) => {
      sub(s, 0).triggered_by_call_id = 'tool-999'
    },
  },
  trigger_not_delegation: {
    path: '/sub_sessions/0/triggered_by_call_id',
    make: (s) => {
      sub(s, 0).triggered_by_call_id = 'tool-001'
    },
  },
  sub_session_missing: {
    path: '/tool_calls/1/subagent_info/sub_session_id',
    make: (s) => Object.assign(callOf(s, 1).subagent_info ?? {}, { sub_session_id: 'sub-999' }),
  },
  task_unlinked: { path: '/tool_calls/3', make: (s) => s.tool_calls.push(call('tool-004', 'Task', 600)) },
  link_mismatch: {
    path: '/tool_calls/1/subagent_info/sub_session_id',
    make: (s) => Object.assign(callOf(s, 1).subagent_info ?? {}, { sub_session_id: 'sub-002' }),
  },
  agent_unknown: {
    path: '/messages/1/to_agent/agent_id',
    make: (s) => Object.assign(message(s, 1).to_agent, { agent_id: 'stranger' }),
  },
  reply_missing: {
    path: '/messages/1/reply_to',
    make: (s) => Object.assign(message(s, 1), { reply_to: 'msg-999' }),
  },
  annotation_range: {
    path: '/phase_annotations/0/tool_call_range/end_call_id',
    make: (s) => annotate(s, 'tool-001', 'tool-999'),
  },
  time_reversed: {
    path: '/sub_sessions/0/tool_calls/0/ended_at',
    make: (s) => {
      for (const each of sub(s, 0).tool_calls.slice(0, 1)) each.ended_at = '2026-01-26T10:00:30Z'
    },
  },
  link_one_way: {
    path: '/tool_calls/1',
    make: (s) => Object.assign(callOf(s, 1), { subagent_info: { subagent_type: 'developer' } }),
  },
  link_dangling: {
    path: '/tool_calls/3/subagent_info/sub_session_id',
    make: (s) => {
      s.collaboration.mode = 'single'
      s.tool_calls.push({
        ...call('tool-004', 'Task', 600),
        subagent_info: { subagent_type: 'x', sub_session_id: 'elsewhere' },
      })
    },
  },
  trigger_shared: {
    path: '/tool_calls/1',
    make: (s) => s.sub_sessions.push({ ...structuredClone(sub(s, 0)), sub_session_id: 'sub-003' }),
  },
  agent_unlisted: {
    path: '/sub_sessions/0/agent/agent_id',
    make: (s) => {
      sub(s, 0).agent = { agent_id: 'guest', agent_type: 'developer' }
    },
  },
  reply_later: {
    path: '/messages/0/reply_to',
    make: (s) => Object.assign(message(s, 0), { reply_to: 'msg-003' }),
  },
  acknowledgment_reply: {
    path: '/messages/4/reply_to',
    make: (s) => Object.assign(message(s, 4), { reply_to: 'msg-002' }),
  },
  correlation_single: {
    path: '/messages/0/correlation_id',
    make: (s) => Object.assign(message(s, 0), { correlation_id: 'alone' }),
  },
  sequence_duplicate: {
    path: '/messages/2/sequence_number',
    make: (s) => Object.assign(message(s, 2), { sequence_number: 2 }),
  },
  sequence_gap: {
    path: '/messages/4/sequence_number',
    make: (s) => Object.assign(message(s, 4), { sequence_number: 9 }),
  },
  unacknowledged: {
    path: '/messages/0',
    make: (s) =>
      Object.assign(message(s, 4), {
        reply_to: message(s, 2).message_id,
        payload: { acknowledged_message_id: message(s, 2).message_id, accepted: true },
      }),
  },
  unassigned: {
    path: '/messages/1',
    make: (s) => Object.assign(message(s, 1), { payload: { task_id: 'review-001', status: 'completed' } }),
  },
  unrequested: {
    path: '/messages/3',
    make: (s) => Object.assign(message(s, 3), { payload: { review_id: 'review-009', verdict: 'approved' } }),
  },
  task_unknown: {
    path: '/sub_sessions/0/task/dependencies/0',
    make: (s) => Object.assign(sub(s, 0).task, { dependencies: ['task-999'] }),
  },
  finding_unknown: {
    path: '/sub_sessions/1/output/required_changes/0/related_findings',
    make: (s) =>
      Object.assign(review(s), {
        required_changes: [
          { change_id: 'c', priority: 'consider', related_findings: ['f-9'], description: '' },
        ],
      }),
  },
  payload_shape: {
    path: '/messages/2/payload/task_id',
    make: (s) => Object.assign(message(s, 2), { payload: { review_id: 'review-001' } }),
  },
  outside_owner: {
    path: '/tool_calls/0',
    make: (s) =>
      Object.assign(callOf(s, 0), { started_at: '2026-01-26T09:00:05Z', ended_at: '2026-01-26T09:00:06Z' }),
  },
  out_of_order: {
    path: '/tool_calls/1',
    make: (s) =>
      Object.assign(callOf(s, 0), { started_at: '2026-01-26T10:14:05Z', ended_at: '2026-01-26T10:14:06Z' }),
  },
  duration_differs: {
    path: '/tool_calls/0/duration_ms',
    make: (s) => Object.assign(callOf(s, 0), { duration_ms: 9000 }),
  },
  count_differs: { path: '/summary/tasks/total', make: (s) => Object.assign(s.summary.tasks, { total: 7 }) },
  annotation_reversed: {
    path: '/phase_annotations/0/tool_call_range',
    make: (s) => annotate(s, 'tool-002', 'tool-001'),
  },
  category_differs: {
    path: '/tool_calls/1/tool_category',
    make: (s) => Object.assign(callOf(s, 1), { tool_category: 'task_management' }),
  },
  unknown_field: {
    path: '/tool_calls/0/mood',
    make: (s) => {
      for (const each of s.tool_calls) Object.assign(each, { mood: 'fine' })
    },
  },
  filename_differs: { path: '', make: (s) => s, filename: '2026-01-26-001-implement-feature.json' },
  stem_differs: { path: '/session_id', make: (s) => s, filename: '2026-01-26-002-other-multi.json' },
}

export function annotate(session: MultiAgentSession, start: string, end: string): void {
  session.phase_annotations = [
    {
      annotation_id: 'ann-1',
      phase_type: 'plan',
      tool_call_range: { start_call_id: start, end_call_id: end },
      annotated_by: 'agent',
      annotated_at: '2026-01-26T10:10:00Z',
      confidence: 'high',
    },
  ]
}

/** What the validator says of the clean example with one fault in it. */
export function faulty(code: IssueCode) {
  const { make, filename } = faults[code]
  const session = clean()
  make(session)
  return validateMultiAgentSession(session, filename === undefined ? {} : { filename })
}

export function finds(code: IssueCode): void {
  const { errors, warnings } = faulty(code)
  const issue = [...errors, ...warnings].find(
    (each) => each.code === code && each.path.startsWith(faults[code].path),
  )
  expect(issue?.severity).toBe(issueCodes[code].severity)
  expect(issue?.message).not.toBe('')
}
