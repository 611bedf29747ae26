import fc from 'fast-check'
import type { AgentSession } from '../../src/contract/session-file/agent-session.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { withoutPrototypeKeys } from '../../src/core/json/json-value.ts'
import { asMultiAgent } from '../../src/session-file/multi-agent.ts'

type Json = Record<string, unknown>
const pad = (n: number): string => String(n).padStart(3, '0')

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  // Longer than a line of an event, and cut in the middle of a pair.
  {
    weight: 1,
    arbitrary: fc.constantFrom('x'.repeat(5000), `${'y'.repeat(4095)}😀 tail`, '\ud800', '[redacted:token]'),
  },
)
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => withoutPrototypeKeys(JSON.parse(JSON.stringify(value)), () => {}))
const params = fc
  .dictionary(fc.string({ maxLength: 6 }), json, { maxKeys: 3 })
  .map((value) => withoutPrototypeKeys(value, () => {}))
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const extras = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ x_note: json, deliverables: fc.array(text, { maxLength: 2 }) }) },
)

/** An object of fields, some optional, with fields the format does not know. */
const open = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Json> =>
  fc.tuple(fc.record(fields), extras).map(([known, more]) => {
    const kept = Object.entries(known as Json).filter(([, value]) => value !== undefined)
    return { ...Object.fromEntries(kept), ...more }
  })

/** A start and an end in one way of writing times; the end is never before the start. */
const span = fc
  .record({
    from: fc.integer({ min: 0, max: 3_600_000 }),
    ms: fc.integer({ min: 0, max: 900_000 }),
    style: fc.constantFrom('ms', 's', 'offset', 'micro'),
  })
  .map(({ from, ms, style }) => ({ start: time(from, style), end: time(from + ms, style), ms }))
const startMs = Date.parse('2026-01-26T10:00:00.000Z')

function time(offset: number, style: string): string {
  const iso = new Date(startMs + offset).toISOString()
  if (style === 's') return `${iso.slice(0, 19)}Z`
  if (style === 'micro') return `${iso.slice(0, 23)}456Z`
  if (style === 'ms') return iso
  const shifted = new Date(startMs + offset + 5.5 * 3_600_000).toISOString()
  return `${shifted.slice(0, 23)}+05:30`
}
const moment = span.map(({ start }) => start)

const toolCall = fc
  .tuple(
    span,
    open({
      tool_name: fc.oneof(
        fc.constantFrom('Read', 'Bash', 'Write', '代码审查'),
        text.filter(
          (name) => name !== '' && !/^(Task|Agent|delegate_to_agent|sm.spawn|workflow.agent)$/.test(name),
        ),
      ),
      tool_category: fc.constantFrom('perception', 'action', 'interaction', 'planning', 'task_management'),
      duration_ms: fc.double({ min: 0, max: 1e7, noNaN: true }).map(Math.abs),
      input: open({ params, description: maybe(text), raw_command: maybe(text) }),
      output: open({
        status: fc.constantFrom('success', 'failed'),
        result: maybe(params),
        error: maybe(text),
        truncated: maybe(fc.boolean()),
      }),
      context_contribution: maybe(
        open({
          type: fc.constantFrom('file_content', 'search_result', 'command_output', 'knowledge'),
          summary: text,
          full_content: maybe(text),
        }),
      ),
    }),
  )
  .map(([{ start, end }, fields]): Json => ({ ...fields, started_at: start, ended_at: end }))

const agentType = fc.constantFrom('architect', 'developer', 'reviewer')
const identity = open({ agent_type: agentType, instance_id: maybe(text), original_agent_type: maybe(text) })
const fileChange = open({ path: text, lines_added: maybe(fc.nat()), description: maybe(text) })
const developerOutput = open({
  task_id: fc.constant('task-000'),
  status: fc.constantFrom('completed', 'partial', 'failed'),
  changes: open({
    files_created: fc.array(fileChange, { maxLength: 2 }),
    files_modified: fc.array(fileChange, { maxLength: 2 }),
    files_deleted: fc.array(text, { maxLength: 2 }),
  }),
  summary: text,
  implementation_notes: maybe(text),
  blockers: maybe(fc.array(text, { maxLength: 2 })),
})
const reviewerOutput = open({
  review_id: fc.constant('review-1'),
  task_id: fc.constant('task-000'),
  verdict: fc.constantFrom('approved', 'changes_requested', 'rejected'),
  findings: fc
    .array(
      open({
        severity: fc.constantFrom('critical', 'major', 'minor', 'suggestion'),
        category: fc.constantFrom('bug', 'security', 'performance', 'style', 'logic', 'test'),
        file: text,
        line: maybe(fc.nat()),
        description: text,
      }),
      { maxLength: 3 },
    )
    .map((list) => list.map((finding, i) => ({ ...finding, finding_id: `f-${i}` }))),
  verification: open({
    tests_passed: fc.boolean(),
    type_check_passed: fc.boolean(),
    custom_checks: maybe(
      fc.dictionary(
        fc.string({ minLength: 1, maxLength: 5 }).filter((key) => key !== '__proto__'),
        fc.boolean(),
        { maxKeys: 2 },
      ),
    ),
  }),
  summary: text,
})

const sub = fc.record({
  times: span,
  isDone: fc.boolean(),
  parent: fc.nat({ max: 5 }),
  fields: open({
    status: fc.constantFrom('success', 'failed', 'in_progress'),
    output: maybe(fc.oneof(developerOutput, reviewerOutput)),
    termination_reason: maybe(text),
  }),
  agent: identity,
  task: open({
    description: text,
    priority: fc.constantFrom('high', 'medium', 'low'),
    dependencies: maybe(fc.array(text, { maxLength: 2 })),
  }),
  calls: fc.array(toolCall, { maxLength: 3 }),
  delegation: fc.record({
    call: toolCall,
    name: fc.constantFrom('Task', 'Task', 'Agent', 'delegate_to_agent'),
    tokens: maybe(fc.nat()),
  }),
})

const message = fc.record({
  fields: open({
    timestamp: moment,
    message_type: fc.constantFrom(
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
    ),
    payload: json,
    correlation_id: maybe(text),
  }),
  from: fc.nat({ max: 5 }),
  to: fc.nat({ max: 5 }),
  number: fc.nat({ max: 20 }),
  reply: maybe(fc.nat({ max: 5 })),
})

const annotation = fc.record({
  fields: open({
    phase_type: fc.constantFrom(
      'understand',
      'explore',
      'plan',
      'execute',
      'verify',
      'mixed',
      'unclassified',
    ),
    annotated_by: fc.constantFrom('agent', 'human', 'auto'),
    annotated_at: moment,
    confidence: fc.constantFrom('high', 'medium', 'low'),
    description: maybe(text),
    decisions: maybe(
      fc.array(
        open({
          decision_id: fc.constant('d-1'),
          type: fc.constantFrom('approach', 'retry'),
          description: text,
        }),
        { maxLength: 2 },
      ),
    ),
    context_used: maybe(
      fc.array(
        open({
          type: fc.constantFrom('file', 'rule'),
          source: text,
          relevance: fc.constantFrom('high', 'low'),
        }),
        { maxLength: 2 },
      ),
    ),
  }),
  start: fc.nat({ max: 8 }),
  end: fc.nat({ max: 8 }),
})

const head = fc
  .tuple(
    span,
    fc.boolean(),
    open({
      session_id: fc.oneof(
        fc.constant('2026-01-26-001-some-work-multi'),
        text.filter((id) => id !== ''),
      ),
      task_title: text,
      task_description: maybe(text),
      user_prompt: text,
      updated_at: maybe(moment),
      status: fc.constantFrom('success', 'failed', 'in_progress'),
      termination_reason: maybe(text),
      agent: open({ model_id: text, capability_snapshot: maybe(text) }),
      phases: maybe(
        fc.array(open({ phase_id: maybe(text), tool_call_ids: maybe(fc.array(text, { maxLength: 2 })) }), {
          maxLength: 2,
        }),
      ),
      summary: open({
        total_duration_ms: fc.nat(),
        tool_calls_count: fc.nat(),
        files_created: fc.array(text, { maxLength: 2 }),
        files_modified: fc.array(text, { maxLength: 2 }),
        errors_encountered: maybe(fc.nat()),
      }),
    }),
  )
  .map(
    ([{ start, end }, isEnded, fields]): Json => ({
      ...fields,
      created_at: start,
      ...(isEnded ? { completed_at: end } : {}),
    }),
  )

const plan = fc.record({
  head,
  mode: fc.constantFrom('multi_agent', 'multi_agent', 'single'),
  pattern: fc.constantFrom('master_worker', 'peer_to_peer', 'pipeline'),
  orchestrator: identity,
  calls: fc.array(toolCall, { maxLength: 5 }),
  subs: fc.array(sub, { minLength: 1, maxLength: 4 }),
  messages: fc.array(message, { maxLength: 5 }),
  annotations: fc.array(annotation, { maxLength: 3 }),
  hasAnnotations: fc.boolean(),
})
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never

/** Valid multi-agent sessions: nested sub-sessions, every optional field, odd texts, unknown fields everywhere. */
export const multiAgentSessions: fc.Arbitrary<MultiAgentSession> = plan.map(
  (made) => fresh(build(made)) as MultiAgentSession,
)

/** Valid single-agent sessions. */
export const agentSessions: fc.Arbitrary<AgentSession> = plan.map((made) => {
  const calls = numbered(made.calls, 'tool')
  return fresh({ ...made.head, tool_calls: calls, ...annotated(made, calls) }) as unknown as AgentSession
})

// Parts of a plan may be one object used twice; a file has no such thing.
const fresh = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const numbered = (calls: readonly Json[], prefix: string): Json[] =>
  calls.map((each, i): Json => ({ ...each, call_id: `${prefix}-${pad(i + 1)}` }))

function build(made: Plan): Json {
  const session_id = made.head['session_id'] as string
  const owners: { id: string; calls: Json[] }[] = [{ id: session_id, calls: numbered(made.calls, 'tool') }]
  const subs = made.subs.map((each, i): Json => {
    const parent = owners[each.parent % owners.length] as (typeof owners)[number]
    const sub_session_id = `sub-${pad(i + 1)}`
    const call_id = `task-${pad(i + 1)}`
    const own = { id: sub_session_id, calls: numbered(each.calls, 'tool') }
    owners.push(own)
    parent.calls.push({
      ...each.delegation.call,
      call_id,
      tool_name: each.delegation.name,
      tool_category: 'interaction',
      subagent_info: {
        subagent_type: 'developer',
        sub_session_id,
        tool_uses: i,
        ...(each.delegation.tokens === undefined ? {} : { tokens_used: each.delegation.tokens }),
      },
    })
    return {
      ...each.fields,
      sub_session_id,
      parent_session_id: parent.id,
      agent: { ...each.agent, agent_id: `agent-${i}` },
      triggered_by_call_id: call_id,
      task: { ...each.task, task_id: `task-${pad(i)}` },
      started_at: each.times.start,
      ...(each.isDone ? { completed_at: each.times.end } : {}),
      tool_calls: own.calls,
    }
  })
  const agents = [{ ...made.orchestrator, agent_id: 'main' }, ...subs.map((each) => each['agent'] as Json)]
  const agent = (n: number) => agents[n % agents.length] as Json
  const messages = made.messages.map(
    (each, i): Json => ({
      ...each.fields,
      message_id: `msg-${pad(i + 1)}`,
      sequence_number: each.number,
      from_agent: agent(each.from),
      to_agent: agent(each.to),
      ...(each.reply === undefined || i === 0 ? {} : { reply_to: `msg-${pad((each.reply % i) + 1)}` }),
    }),
  )
  const calls = owners[0]?.calls ?? []
  const session = {
    ...made.head,
    collaboration: {
      mode: made.mode,
      pattern: made.pattern,
      orchestrator: agents[0],
      participants: agents.slice(1),
    },
    tool_calls: calls,
    sub_sessions: subs,
    messages,
    ...annotated(
      made,
      owners.flatMap((each) => each.calls),
    ),
  }
  const { summary } = asMultiAgent({ ...single, tool_calls: [] } as unknown as AgentSession)
  return { ...session, summary: { ...summary, ...(made.head['summary'] as Json) } }
}

const single = {
  status: 'success',
  summary: {},
}

function annotated({ annotations, hasAnnotations }: Plan, calls: readonly Json[]): Json {
  if (!hasAnnotations) return {}
  const id = (n: number) => calls[n % calls.length]?.['call_id']
  if (calls.length === 0) return { phase_annotations: [] }
  return {
    phase_annotations: annotations.map((each, i) => ({
      ...each.fields,
      annotation_id: `ann-${i}`,
      tool_call_range: { start_call_id: id(each.start), end_call_id: id(each.end) },
    })),
  }
}
