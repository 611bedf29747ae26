import type { ToolCall } from '../contract/session-file/agent-session.ts'
import type { AgentIdentifier, SubAgentSession } from '../contract/session-file/multi-agent-session.ts'
import type {
  DeveloperOutput,
  FileChange,
  ReviewerOutput,
  ReviewFinding,
} from '../contract/session-file/outputs.ts'
import type { Agent } from '../contract/values.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import { millisOf } from '../core/json/iso-time.ts'
import { compact, isRecord, root } from '../core/json/json-value.ts'
import { type AgentRole, fileAgentType } from './agent-types.ts'
import { type CallEvents, toolCallFrom } from './call-events.ts'
import { filesChangedBy, foldEffects } from './changed-files.ts'
import type { Collected } from './collect.ts'
import { textOf } from './event-records.ts'
import { isWorkflow, type OwnerRecord } from './owners.ts'
import { readOutput } from './read-collaboration.ts'
import { type Ending, endingOf, endWord, identifierFrom } from './record-events.ts'
import { delegatingCall } from './repair-triggers.ts'
import { seenChecks, verifiedReview, verifiedWork } from './verified-output.ts'

/** The calls of every owner and the sub-sessions, linked both ways. */
export type RecordedSubs = { readonly calls: ToolCall[]; readonly subs: Map<OwnerRecord, SubAgentSession> }

export function recordedSubs(found: Collected, agents: FileAgents, sessionId: string): RecordedSubs {
  const now = found.lastAt
  const calls = new Map<OwnerRecord, ToolCall[]>(
    [found.root, ...found.subs].map((owner) => [owner, owner.calls.map((call) => writtenCall(call, now))]),
  )
  const ids = new Map<OwnerRecord, string>([[found.root, sessionId]])
  found.subs.forEach((owner, i) => ids.set(owner, subId(owner, i)))
  const subs = new Map<OwnerRecord, SubAgentSession>()
  found.subs.forEach((owner, i) => {
    const sub = subOf({ owner, agents, number: i + 1, ids, calls: calls.get(owner) ?? [], now })
    subs.set(owner, { ...sub, ...outputOf(owner, sub) })
  })
  linkSubs({ found, calls, subs })
  for (const list of calls.values()) list.sort(byStart)
  return { calls: calls.get(found.root) ?? [], subs }
}

/**
 * A call as the format has it: of the category that the format gives its tool, and as long as from its start to its
 * end, whatever was measured around less of it.
 */
function writtenCall(events: CallEvents, now: string): ToolCall {
  const call = toolCallFrom(events, now)
  const { tool_name, tool_category, input, started_at, ended_at } = call
  return {
    ...call,
    tool_category: toolCategory(tool_name, input.params, tool_category),
    duration_ms: millisOf(ended_at) - millisOf(started_at),
  }
}

// Run ids are unique in the journal, so a sub-session can be found there again.
const subId = ({ spawned, started }: OwnerRecord, position: number): string =>
  spawned?.event.runId ?? started?.event.runId ?? `sub-${position + 1}`

type Source = {
  readonly owner: OwnerRecord
  readonly agents: FileAgents
  readonly number: number
  readonly ids: ReadonlyMap<OwnerRecord, string>
  readonly calls: ToolCall[]
  readonly now: string
}

function subOf({ owner, agents, number, ids, calls, now }: Source): SubAgentSession {
  const { spawned, started, assigned } = owner
  const task = spawned?.event.payload.task ?? assigned?.payload
  const prompt = spawned?.event.payload.agentTask ?? started?.event.payload.prompt ?? ''
  const taskId = task?.taskId || spawned?.event.taskId || `task-${String(number).padStart(3, '0')}`
  return compact({
    sub_session_id: ids.get(owner) ?? `sub-${number}`,
    parent_session_id: (owner.parent && ids.get(owner.parent)) ?? '',
    agent: { ...agents.of(owner) },
    triggered_by_call_id: '',
    task: compact({
      task_id: taskId,
      description: textOf(task?.description ?? prompt),
      priority: task?.priority ?? 'medium',
      dependencies: task?.dependencies,
    }),
    started_at: spawned?.event.timestamp ?? started?.event.timestamp ?? now,
    ...endOf(owner),
    tool_calls: calls,
  })
}

/** A task may fail though its agent returned: what it did was not taken. */
function endOf({ ended, failed }: OwnerRecord): Ending {
  const ending = endingOf(ended?.event)
  if (!failed || ending.status !== 'success') return ending
  const { reason } = failed.payload
  return { ...ending, status: 'failed', termination_reason: reason ? `error: ${reason}` : 'error' }
}

type Links = {
  readonly found: Collected
  readonly calls: ReadonlyMap<OwnerRecord, ToolCall[]>
  readonly subs: ReadonlyMap<OwnerRecord, SubAgentSession>
}

/** Joins every sub-session to a call of its parent, then says in the calls what their agents did. */
function linkSubs({ found, calls, subs }: Links): void {
  const byId = new Map(
    [...calls].map(([owner, list]) => [owner, new Map(list.map((call) => [call.call_id, call]))]),
  )
  const triggers = new Map<ToolCall, OwnerRecord>()
  for (const [owner, sub] of subs) {
    const parent = owner.parent ?? found.root
    const wanted = byId.get(parent)?.get(owner.spawned?.event.payload.triggeredByCallId ?? '')
    // A call names one sub-session; the second agent that one call started gets a call of its own.
    const call = wanted && !triggers.has(wanted) ? asTask(wanted) : spawnCall(owner, sub)
    if (call !== wanted) calls.get(parent)?.push(call)
    triggers.set(call, owner)
    sub.triggered_by_call_id = call.call_id
  }
  for (const [call, owner] of triggers) {
    const sub = subs.get(owner)
    if (sub) call.subagent_info = subagentInfo(owner, sub)
  }
}

function asTask(call: ToolCall): ToolCall {
  if (call.tool_name !== 'Task') call.original_tool_name ??= call.tool_name
  call.tool_name = 'Task'
  call.tool_category = 'interaction'
  return call
}

/** The call of an agent that no call started, named by how it came. */
function spawnCall({ spawned, started, assigned, reported }: OwnerRecord, sub: SubAgentSession): ToolCall {
  const call = delegatingCall(sub, `task-${sub.sub_session_id}`)
  const isOfWorkflow = (spawned?.event.workflowId ?? started?.event.workflowId) !== undefined
  const original_tool_name = isOfWorkflow ? 'workflow.agent' : 'sm.spawn'
  if (!isOfWorkflow || !assigned) return { ...call, original_tool_name }
  // From the assignment to the report: longer than the agent itself was there.
  const started_at = assigned.timestamp
  const ended_at = reported?.timestamp ?? call.ended_at
  const { input } = assigned.payload
  return {
    ...call,
    original_tool_name,
    started_at,
    ended_at,
    duration_ms: millisOf(ended_at) - millisOf(started_at),
    input: { params: compact({ ...call.input.params, input }) },
  }
}

function subagentInfo(owner: OwnerRecord, sub: SubAgentSession): NonNullable<ToolCall['subagent_info']> {
  const tokens = [...owner.tokens.values()].reduce((sum, each) => sum + each, 0)
  const ended = owner.ended?.event.payload
  return compact({
    subagent_type: sub.agent.original_agent_type ?? sub.agent.agent_type,
    sub_session_id: sub.sub_session_id,
    tool_uses: sub.tool_calls.length,
    tokens_used: tokens > 0 ? tokens : ended && 'tokens' in ended ? ended.tokens : undefined,
    tools_breakdown: breakdown(sub.tool_calls),
  })
}

function breakdown(calls: readonly ToolCall[]): { tool_name: string; count: number }[] | undefined {
  const counts = new Map<string, number>()
  for (const { tool_name } of calls) counts.set(tool_name, (counts.get(tool_name) ?? 0) + 1)
  return counts.size === 0 ? undefined : [...counts].map(([tool_name, count]) => ({ tool_name, count }))
}

const byStart = (a: ToolCall, b: ToolCall): number => millisOf(a.started_at) - millisOf(b.started_at)

/** The agents of a recorded session, each by one name in the whole file. */
export type FileAgents = {
  readonly orchestrator: AgentIdentifier
  readonly participants: AgentIdentifier[]
  of(owner: OwnerRecord): AgentIdentifier
  named(agent: Agent): AgentIdentifier
}

/** Names every agent by what it does: who orchestrates, who gives verdicts, who works. */
export function fileAgents(found: Collected): FileAgents {
  const parents = new Set(found.subs.map((owner) => owner.parent))
  const verifiers = new Set(found.claims.map(({ event }) => event.payload.verifierAgentId))
  const main = rootAgent(found.root)
  const known = new Map<string, AgentIdentifier>()
  const add = (agent: Agent, role: AgentRole): AgentIdentifier => {
    const id = agent.agentId || 'unknown'
    const before = known.get(id)
    if (before) return before
    const identifier = identifierFrom(agent, fileAgentType(agent.agentType, role))
    known.set(id, identifier)
    return identifier
  }
  const orchestrator = add(main, { orchestrates: true })
  const owners = new Map<OwnerRecord, AgentIdentifier>([[found.root, orchestrator]])
  found.subs.forEach((owner, i) => {
    const agent = subAgent(owner, i)
    const judges = givesVerdicts(owner) || verifiers.has(agent.agentId)
    owners.set(owner, add(agent, { givesVerdicts: judges, orchestrates: parents.has(owner) }))
  })
  for (const { event } of found.messages)
    for (const agent of [event.payload.from, event.payload.to]) add(agent, {})
  return {
    orchestrator,
    participants: [...known.values()].filter((agent) => agent.agent_id !== orchestrator.agent_id),
    of: (owner) => owners.get(owner) ?? orchestrator,
    named: (agent) => known.get(agent.agentId || 'unknown') ?? orchestrator,
  }
}

function givesVerdicts(owner: OwnerRecord): boolean {
  const output =
    owner.ended && 'output' in owner.ended.event.payload ? owner.ended.event.payload.output : undefined
  return owner.findings.length > 0 || (isRecord(output) && 'verdict' in output)
}

function rootAgent({ started, spawned }: OwnerRecord): Agent {
  const declared = started?.event.payload.agent ?? started?.event.payload.collaboration?.orchestrator
  return declared ?? spawned?.event.payload ?? { agentId: 'main', agentType: 'architect' }
}

function subAgent({ spawned, started }: OwnerRecord, position: number): Agent {
  const fallback = { agentId: `agent-${position + 1}`, agentType: 'developer' }
  return started?.event.payload.agent ?? spawned?.event.payload ?? fallback
}

type Output = Pick<SubAgentSession, 'output' | 'original_output'>

/** What an agent gave back. Its own words are put into the file's shape; where it gave none, its records speak. */
export function outputOf(owner: OwnerRecord, sub: SubAgentSession): Output {
  const { reported, ended } = owner
  if (!ended && !reported) return {}
  const answered = ended && 'output' in ended.event.payload ? ended.event.payload.output : undefined
  const given = reported ? reported.payload.payload : answered
  const fields = { record: { task: sub.task, output: given }, place: root, log: () => {} }
  if (isRecord(given)) readOutput(fields)
  const { output, original_output } = fields.record as Output
  const own = isRecord(given) ? output : undefined
  const isWork = own !== undefined && 'changes' in own
  const beside = compact({
    original_output: isRecord(given) || given === undefined ? original_output : given,
  })
  const seen = seenChecks(owner)
  if (reported && isWork) return { output: verifiedWork(own as DeveloperOutput, seen) }
  if (own && !isWork) {
    // A crew runs the checks of a review itself, for all its reviewers.
    const isRun = owner.parent !== undefined && isWorkflow(owner.parent)
    const review = isRun ? (own as ReviewerOutput) : verifiedReview(own as ReviewerOutput, seen)
    return { output: withFindings(review, owner), ...beside }
  }
  if (sub.agent.agent_type === 'reviewer') return beside
  const made = developerOutput(owner, sub)
  const isFailed = sub.status === 'failed'
  // The file joins an output to its task by this id, whatever the agent called it.
  const fixed = { task_id: made.task_id, ...(isFailed ? { status: 'failed' as const } : {}) }
  return {
    output: verifiedWork({ ...made, ...(own as DeveloperOutput | undefined), ...fixed }, seen),
    ...beside,
  }
}

/** What a developer must have done, from its calls and patches. */
function developerOutput(owner: OwnerRecord, sub: SubAgentSession): DeveloperOutput {
  const files = owner.effects.length > 0 ? foldEffects(owner.effects) : filesChangedBy(sub.tool_calls)
  const change = (path: string): FileChange => ({ path })
  const event = owner.ended?.event
  const said = event && 'detail' in event.payload ? event.payload.detail : undefined
  const reason = event?.payload.reason
  return {
    task_id: sub.task.task_id,
    status: sub.status === 'success' ? 'completed' : 'failed',
    changes: {
      files_created: files.created.map(change),
      files_modified: files.modified.map(change),
      files_deleted: files.deleted,
    },
    summary: said === undefined ? (reason ?? (event ? endWord(event) : '')) : textOf(said),
  }
}

/** A review with the findings that were raised as events and that its own list does not have. */
function withFindings(output: ReviewerOutput, { findings }: OwnerRecord): ReviewerOutput {
  const known = new Set(output.findings.map((finding) => finding.finding_id))
  const raised = findings.filter(({ payload }) => !known.has(payload.findingId))
  return { ...output, findings: [...output.findings.map(fileFinding), ...raised.map(findingFrom)] }
}

/** The writer's categories have no `test`; a missing test is a bug to whoever reads the file. */
function fileFinding(finding: ReviewFinding): ReviewFinding {
  return finding.category === 'test' ? { ...finding, category: 'bug', original_category: 'test' } : finding
}

function findingFrom({ payload }: OwnerRecord['findings'][number]): ReviewFinding {
  return fileFinding(
    compact({
      finding_id: payload.findingId || 'finding',
      severity: payload.severity,
      category: payload.category,
      file: payload.file ?? '',
      line: payload.line,
      description: textOf(payload.description),
      suggestion: payload.suggestion === undefined ? undefined : textOf(payload.suggestion),
      rationale: payload.rationale === undefined ? undefined : textOf(payload.rationale),
      fixed_in_iteration: payload.fixedInIteration,
    }),
  )
}
