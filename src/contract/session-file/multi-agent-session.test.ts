import { expect, test } from 'vitest'
import type * as z from 'zod'
import { call, example, single } from '../../../test/support/std-008.ts'
import { loosen } from '../../session-file/shape.ts'
import {
  AgentSession,
  ContextContribution,
  ContextReference,
  Decision,
  LegacyPhase,
  LoopInfo,
  LoopSummary,
  PhaseAnnotation,
  PhaseType,
  SessionSummary,
  SubagentInfo,
  ToolCall,
} from './agent-session.ts'
import { toJsonSchema } from './message-payloads.ts'
import {
  AgentIdentifier,
  AgentMessage,
  AgentSummary,
  AgentType,
  CollaborationInfo,
  MultiAgentSession,
  MultiAgentSessionSummary,
  SubAgentSession,
  TaskAssignment,
} from './multi-agent-session.ts'
import {
  DeveloperOutput,
  FileChange,
  RequiredChange,
  ReviewerOutput,
  ReviewFinding,
  Verification,
} from './outputs.ts'

type Json = Record<string, unknown>
const at = '2026-01-26T10:00:00Z'
const agent = { agent_id: 'developer-01', agent_type: 'developer' }
const summary = {
  agent_id: 'a',
  agent_type: 'developer',
  tool_calls_count: 1,
  duration_ms: 1,
  status: 'completed',
}
const [sub, review] = example().sub_sessions
const developed = sub?.output as Json
const reviewed = review?.output as Json

/** Every record of the format: a value with all its documented fields, and which of them may be absent. */
const records: Record<string, { schema: z.ZodType; value: Json; optional: string[] }> = {
  MultiAgentSession: {
    schema: MultiAgentSession,
    value: { ...example(), task_description: 'd', updated_at: at, phase_annotations: [], phases: [] },
    optional: ['task_description', 'completed_at', 'updated_at', 'phase_annotations', 'phases'],
  },
  CollaborationInfo: {
    schema: CollaborationInfo,
    value: { ...example().collaboration },
    optional: [],
  },
  AgentIdentifier: {
    schema: AgentIdentifier,
    value: { ...agent, instance_id: 'i' },
    optional: ['instance_id'],
  },
  SubAgentSession: {
    schema: SubAgentSession,
    value: { ...sub },
    optional: ['completed_at', 'output'],
  },
  TaskAssignment: {
    schema: TaskAssignment,
    value: { task_id: 't', description: 'd', priority: 'low', dependencies: ['t0'] },
    optional: ['dependencies'],
  },
  AgentMessage: {
    schema: AgentMessage,
    value: { ...example().messages[0], correlation_id: 'c', reply_to: 'm' },
    optional: ['correlation_id', 'reply_to'],
  },
  DeveloperOutput: {
    schema: DeveloperOutput,
    value: {
      ...developed,
      implementation_notes: 'n',
      self_review: { tests_run: true, tests_passed: true, type_check_passed: false },
      blockers: ['b'],
    },
    optional: ['implementation_notes', 'self_review', 'blockers'],
  },
  FileChange: {
    schema: FileChange,
    value: { path: 'p', change_type: 'created', lines_added: 1, lines_removed: 0, description: 'd' },
    optional: ['change_type', 'lines_added', 'lines_removed', 'description'],
  },
  ReviewerOutput: {
    schema: ReviewerOutput,
    value: { ...reviewed, required_changes: [] },
    optional: ['required_changes'],
  },
  Verification: {
    schema: Verification,
    value: { tests_passed: true, type_check_passed: true, custom_checks: { lint: true } },
    optional: ['custom_checks'],
  },
  ReviewFinding: {
    schema: ReviewFinding,
    value: {
      finding_id: 'f',
      severity: 'major',
      category: 'bug',
      file: 'a.ts',
      line: 3,
      description: 'd',
      suggestion: 's',
    },
    optional: ['line', 'suggestion'],
  },
  RequiredChange: {
    schema: RequiredChange,
    value: { change_id: 'c', priority: 'must_fix', related_findings: ['f'], description: 'd' },
    optional: [],
  },
  MultiAgentSessionSummary: {
    schema: MultiAgentSessionSummary,
    value: { ...example().summary, errors_encountered: 0 },
    optional: ['final_verdict', 'errors_encountered'],
  },
  AgentSummary: { schema: AgentSummary, value: summary, optional: [] },
  AgentSession: {
    schema: AgentSession,
    value: { ...single(), task_description: 'd', updated_at: at, phase_annotations: [], phases: [] },
    optional: ['task_description', 'completed_at', 'updated_at', 'phase_annotations', 'phases'],
  },
  SessionSummary: {
    schema: SessionSummary,
    value: { ...single().summary, errors_encountered: 2 },
    optional: ['errors_encountered'],
  },
  ToolCall: {
    schema: ToolCall,
    value: {
      ...call('tool-001', 'Read', 1),
      context_contribution: { type: 'knowledge', summary: 's' },
      subagent_info: { subagent_type: 'x' },
    },
    optional: ['context_contribution', 'subagent_info'],
  },
  ContextContribution: {
    schema: ContextContribution,
    value: { type: 'file_content', summary: 's', full_content: 'f' },
    optional: ['full_content'],
  },
  SubagentInfo: {
    schema: SubagentInfo,
    value: {
      subagent_type: 't',
      sub_session_id: 's',
      tool_uses: 1,
      tokens_used: 2,
      tools_breakdown: [{ tool_name: 'Read', count: 1 }],
    },
    optional: ['sub_session_id', 'tool_uses', 'tokens_used', 'tools_breakdown'],
  },
  PhaseAnnotation: {
    schema: PhaseAnnotation,
    value: {
      annotation_id: 'a',
      phase_type: 'plan',
      tool_call_range: { start_call_id: 's', end_call_id: 'e' },
      annotated_by: 'human',
      annotated_at: at,
      confidence: 'low',
      description: 'd',
      decisions: [],
      context_used: [],
    },
    optional: ['description', 'decisions', 'context_used'],
  },
  ContextReference: {
    schema: ContextReference,
    value: {
      type: 'rule',
      source: 's',
      relevance: 'high',
      summary: 's',
      quoted_content: 'q',
      usage_mode: 'read',
    },
    optional: ['summary', 'quoted_content', 'usage_mode'],
  },
  Decision: {
    schema: Decision,
    value: {
      decision_id: 'd',
      type: 'skip',
      description: 'd',
      reasoning: 'r',
      alternatives_considered: ['a'],
    },
    optional: ['reasoning', 'alternatives_considered'],
  },
}

/** All documented fields and no others; of them only the optional ones may be absent. */
function hasItsFields(name: string): void {
  const { schema, value, optional } = records[name] as (typeof records)[string]
  expect(schema.safeParse(value).error).toBeUndefined()
  for (const key of Object.keys(value)) {
    const { [key]: _gone, ...rest } = value
    expect([key, schema.safeParse(rest).success]).toEqual([key, optional.includes(key)])
  }
  const more = { ...value, x_unknown: { kept: true } }
  expect(schema.safeParse(more).success).toBe(false)
  expect(loosen(schema).parse(more)).toEqual(more)
}

test('[LOG-1, LOG-15, COL-36] MultiAgentSession: documented fields', () => hasItsFields('MultiAgentSession'))
test('[LOG-16, COL-37] CollaborationInfo: documented fields', () => hasItsFields('CollaborationInfo'))
test('[LOG-19, COL-38] AgentIdentifier: documented fields', () => hasItsFields('AgentIdentifier'))
test('[LOG-21, LOG-22, COL-39] SubAgentSession: documented fields', () => hasItsFields('SubAgentSession'))
test('[LOG-23, COL-40] TaskAssignment: documented fields', () => hasItsFields('TaskAssignment'))
test('[LOG-27, LOG-28] AgentMessage: documented fields', () => hasItsFields('AgentMessage'))
test('[LOG-44, LOG-48, LOG-49] DeveloperOutput: documented fields', () => hasItsFields('DeveloperOutput'))
test('[LOG-47] FileChange: documented fields', () => hasItsFields('FileChange'))
test('[LOG-50] ReviewerOutput: documented fields', () => hasItsFields('ReviewerOutput'))
test('[LOG-52] Verification: documented fields', () => hasItsFields('Verification'))
test('[LOG-53, LOG-56, COL-48] ReviewFinding: documented fields', () => hasItsFields('ReviewFinding'))
test('[LOG-57] RequiredChange: documented fields', () => hasItsFields('RequiredChange'))
test('[LOG-59] MultiAgentSessionSummary: documented fields', () => hasItsFields('MultiAgentSessionSummary'))
test('[LOG-61] AgentSummary: documented fields', () => hasItsFields('AgentSummary'))
test('[LOG-103, LOG-104] AgentSession: documented fields', () => hasItsFields('AgentSession'))
test('[LOG-106] SessionSummary: documented fields', () => hasItsFields('SessionSummary'))
test('[LOG-107] ToolCall: documented fields', () => hasItsFields('ToolCall'))
test('[LOG-110] ContextContribution: documented fields', () => hasItsFields('ContextContribution'))
test('[LOG-68] SubagentInfo: documented fields', () => hasItsFields('SubagentInfo'))
test('[LOG-115] PhaseAnnotation: documented fields', () => hasItsFields('PhaseAnnotation'))
test('[LOG-120] ContextReference: documented fields', () => hasItsFields('ContextReference'))
test('[LOG-120] Decision: documented fields', () => hasItsFields('Decision'))

/** A field with a fixed list of words takes these and no others. */
function takesOnly(schema: z.ZodType, allowed: string[]): void {
  expect((schema as unknown as { options: string[] }).options).toEqual(allowed)
  for (const other of ['status_update', 'completed!', '', null])
    expect(schema.safeParse(other).success).toBe(false)
}

test('[LOG-17] modes', () => takesOnly(CollaborationInfo.shape.mode, ['single', 'multi_agent']))
test('[LOG-18] patterns', () =>
  takesOnly(CollaborationInfo.shape.pattern, ['master_worker', 'peer_to_peer', 'pipeline']))
test('[LOG-20] agent types', () => takesOnly(AgentType, ['architect', 'developer', 'reviewer']))
test('[LOG-26] statuses of a session', () =>
  takesOnly(SubAgentSession.shape.status, ['success', 'failed', 'in_progress']))
test('[LOG-45] statuses of an output', () =>
  takesOnly(DeveloperOutput.shape.status, ['completed', 'partial', 'failed']))
test('[LOG-51] verdicts', () =>
  takesOnly(ReviewerOutput.shape.verdict, ['approved', 'changes_requested', 'rejected']))
test('[LOG-54] severities', () =>
  takesOnly(ReviewFinding.shape.severity, ['critical', 'major', 'minor', 'suggestion']))
test('[LOG-55] categories of a finding', () =>
  takesOnly(ReviewFinding.shape.category, ['bug', 'security', 'performance', 'style', 'logic', 'test']))
test('[LOG-58] priorities of a change', () =>
  takesOnly(RequiredChange.shape.priority, ['must_fix', 'should_fix', 'consider']))
test('[LOG-61] statuses of an agent', () =>
  takesOnly(AgentSummary.shape.status, ['completed', 'failed', 'in_progress']))
test('[LOG-111] categories of a call', () =>
  takesOnly(ToolCall.shape.tool_category, [
    'perception',
    'action',
    'interaction',
    'planning',
    'task_management',
  ]))
test('[LOG-109] statuses of a call', () =>
  takesOnly(ToolCall.shape.output.shape.status, ['success', 'failed']))
test('[LOG-116] phases', () =>
  takesOnly(PhaseType, ['understand', 'explore', 'plan', 'execute', 'verify', 'mixed', 'unclassified']))
test('[LOG-116] annotators', () => takesOnly(PhaseAnnotation.shape.annotated_by, ['agent', 'human', 'auto']))
test('[LOG-116] confidences', () => takesOnly(PhaseAnnotation.shape.confidence, ['high', 'medium', 'low']))
test('[LOG-29] message types', () =>
  takesOnly(AgentMessage.shape.message_type, [
    'task_assignment',
    'task_progress',
    'task_completion',
    'review_request',
    'review_result',
    'feedback',
    'status_query',
    'status_response',
    'abort',
    'acknowledgment',
  ]))

test('[LOG-105] a session names its model, and perhaps a snapshot of its abilities', () => {
  const named = AgentSession.shape.agent
  expect(named.safeParse({ model_id: 'm', capability_snapshot: '2026-01-25' }).success).toBe(true)
  expect(named.safeParse({}).success).toBe(false)
})

test('[LOG-108, LOG-109] what goes into a call is params, and what comes out has a status', () => {
  const { input, output } = ToolCall.shape
  expect(input.safeParse({ params: {}, description: 'd', raw_command: 'ls' }).success).toBe(true)
  expect(input.safeParse({ description: 'd' }).success).toBe(false)
  expect(
    output.safeParse({ status: 'failed', result: { display: 'x', more: 1 }, error: 'e', truncated: true })
      .success,
  ).toBe(true)
  expect(output.safeParse({ result: {} }).success).toBe(false)
})

test('[LOG-46] changed files are FileChange objects, deleted ones are paths', () => {
  const { changes } = DeveloperOutput.shape
  expect(
    changes.safeParse({ files_created: [{ path: 'a' }], files_modified: [], files_deleted: ['b'] }).success,
  ).toBe(true)
  expect(changes.safeParse({ files_created: ['a'], files_modified: [], files_deleted: [] }).success).toBe(
    false,
  )
})

test('[LOG-60] agents are an architect, developers and the last reviewer, with room for the rest', () => {
  const { agents } = MultiAgentSessionSummary.shape
  const all = {
    architect: summary,
    developers: [summary],
    reviewer: summary,
    reviewers: [summary],
    others: [summary],
  }
  expect(agents.safeParse(all).success).toBe(true)
  expect(agents.safeParse({ architect: summary, developers: [] }).success).toBe(true)
  expect(agents.safeParse({ developers: [] }).success).toBe(false)
})

test('[LOG-64] a final verdict is approved or rejected', () => {
  const { final_verdict: verdict, last_verdict: last } = MultiAgentSessionSummary.shape
  expect(verdict.safeParse('changes_requested').success).toBe(false)
  expect(last.safeParse('changes_requested').success).toBe(true)
})

test('[LOG-121] phases of version 2 have their documented fields, all optional, and keep others', () => {
  const phase = {
    phase_id: 'p',
    phase_type: 'plan',
    status: 'skipped',
    started_at: at,
    ended_at: at,
    duration_ms: 1,
    input: {},
    output: {},
    tool_call_ids: ['tool-001'],
    context_used: [],
    decisions: [],
    exploration_record: {},
    loop_info: { attempt_number: 1, max_attempts: 3, is_retry: true, previous_attempt_id: 'p0' },
    extra: 1,
  }
  expect(LegacyPhase.parse(phase)).toEqual(phase)
  expect(LegacyPhase.parse({})).toEqual({})
  expect(LoopInfo.safeParse({ attempt_number: 'one' }).success).toBe(false)
  expect(
    LoopSummary.safeParse({ plan_execute_loops: 1, loop_resolved: true, loop_phase_ids: ['p'] }).success,
  ).toBe(true)
})

test('[LOG-14] the published schema states its version and every record by name', () => {
  const schema = toJsonSchema()
  expect(schema['version']).toBe('1.0')
  expect(schema['title']).toContain('1.0')
  const names = Object.keys(schema['$defs'] as object)
  for (const name of Object.keys(records)) expect(names).toContain(name)
  for (const name of ['DeveloperInput', 'ReviewerInput', 'MessagePayloads']) expect(names).toContain(name)
  const refs = JSON.stringify(schema).match(/#\/\$defs\/\w+/g) ?? []
  for (const ref of refs) expect(names).toContain(ref.slice('#/$defs/'.length))
})

test('[COL-73] the records of a collaboration compile to the types they describe', () => {
  const session: MultiAgentSession = example()
  const [first] = session.sub_sessions
  const verdict: 'approved' | 'changes_requested' | 'rejected' | undefined =
    first?.output && 'verdict' in first.output ? first.output.verdict : undefined
  expect(verdict).toBeUndefined()
  expect(MultiAgentSession.parse(session)).toEqual(session)
})
