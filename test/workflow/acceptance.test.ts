import { expect, test } from 'vitest'
import { demonstrationRequest } from '../../src/contract/demonstration.ts'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { AgentSession } from '../../src/contract/session-file/agent-session.ts'
import { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { tokenTotal } from '../../src/core/ledger/model-usage.ts'
import { isMultiAgentSession } from '../../src/session-file/multi-agent.ts'
import { readSession } from '../../src/session-file/read-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { crewDaemon } from '../support/crew-daemon.ts'

type Recorded = { document: MultiAgentSession; filename: string; events: AgentEvent[] }

let recorded: Promise<Recorded> | undefined

/** The demonstration, run once up to where it waits to be landed: what the journal says and the file of it. */
const demonstration = (): Promise<Recorded> => {
  recorded ??= run()
  return recorded
}

async function run(): Promise<Recorded> {
  const m = await crewDaemon()
  const { workflow_id, session_id } = await m.crew(demonstrationRequest)
  await m.ended(workflow_id)
  const { document, filename } = await m.client().exportLog({ id: session_id })
  return { document: document as MultiAgentSession, filename, events: await m.events(session_id) }
}

const of = <T extends EventType>(events: readonly AgentEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type)

const byId = (a: { agent_id: string }, b: { agent_id: string }): number =>
  a.agent_id.localeCompare(b.agent_id)

test('[COL-73, COL-36, COL-37, COL-38] acceptance 1: the data model holds a multi-agent session whole', async () => {
  const { document, filename, events } = await demonstration()
  expect(validateSession(document, { filename })).toEqual({ valid: true, errors: [], warnings: [] })
  expect(filename).toMatch(/^\d{4}-\d\d-\d\d-001-add-farewell-.*-multi\.json$/)
  expect(document.collaboration).toEqual({
    mode: 'multi_agent',
    pattern: 'master_worker',
    orchestrator: { agent_id: 'architect', agent_type: 'architect' },
    participants: expect.any(Array),
  })
  // Those who work side by side may begin in either order.
  expect(document.collaboration.participants.toSorted(byId)).toEqual([
    { agent_id: 'developer-1', agent_type: 'developer' },
    { agent_id: 'developer-2', agent_type: 'developer' },
    { agent_id: 'reviewer', agent_type: 'reviewer' },
  ])
  expect(document).toMatchObject({
    status: 'in_progress',
    user_prompt: demonstrationRequest,
    summary: {
      tasks: { total: 3, completed: 3, failed: 0 },
      review_iterations: 2,
      final_verdict: 'approved',
    },
  })
  const calls = of(events, 'tool.call.started').map(({ payload }) => payload.callId)
  const written = [...document.tool_calls, ...document.sub_sessions.flatMap((sub) => sub.tool_calls)]
    .filter(({ tool_name }) => tool_name !== 'Task')
    .map(({ call_id }) => call_id)
  expect(written.toSorted()).toEqual(calls.toSorted())
  const said = of(events, 'agent.message.created').filter(({ payload }) => payload.messageType !== undefined)
  expect(document.messages).toMatchObject(
    said.map(({ payload }, i) => ({
      message_id: payload.messageId,
      sequence_number: i + 1,
      message_type: payload.messageType,
      from_agent: { agent_id: payload.from.agentId },
      to_agent: { agent_id: payload.to.agentId },
      correlation_id: payload.correlationId,
      payload: payload.payload,
      ...(payload.replyTo && { reply_to: payload.replyTo }),
    })),
  )
  expect(document.messages).toHaveLength(said.length)
  const findings = document.sub_sessions.flatMap(({ output }) =>
    output && 'findings' in output ? output.findings.map(({ finding_id }) => finding_id) : [],
  )
  expect(findings).toEqual(of(events, 'verifier.issue.found').map(({ payload }) => payload.findingId))
  expect(document.summary.review_iterations).toBe(of(events, 'loop.round.completed').length)
})

test('[COL-73, COL-74, COL-24] acceptance 2: the architect delegates its tasks to developers, who work side by side', async () => {
  const { document, events } = await demonstration()
  const [plan] = of(events, 'plan.created')
  const architect = of(events, 'agent.spawned').find(({ payload }) => payload.agentId === 'architect')
  expect(plan?.seq).toBeGreaterThan(architect?.seq ?? Infinity)
  const planned = plan?.payload.tasks?.map(({ taskId }) => taskId) ?? []
  expect(planned).toEqual(['farewell', 'shout'])
  const said = of(events, 'agent.message.created').map(({ payload }) => payload)
  const spans = planned.map((taskId) => {
    const [assigned] = of(events, 'agent.task.assigned').filter(({ payload }) => payload.taskId === taskId)
    const developer = assigned?.payload.agentId
    const asked = said.find((one) => one.messageType === 'task_assignment' && one.to.agentId === developer)
    expect(JSON.stringify(asked?.payload)).toContain(`"task_id":"${taskId}"`)
    expect(said.filter(({ correlationId }) => correlationId === asked?.correlationId)).toMatchObject([
      { messageType: 'task_assignment', from: { agentId: 'architect' }, to: { agentId: developer } },
      { messageType: 'acknowledgment', from: { agentId: developer }, to: { agentId: 'architect' } },
      { messageType: 'task_completion', from: { agentId: developer }, to: { agentId: 'architect' } },
    ])
    const sub = document.sub_sessions.find(({ task }) => task.task_id === taskId)
    expect(sub?.agent).toEqual({ agent_id: developer, agent_type: 'developer' })
    return [sub?.started_at ?? '', sub?.completed_at ?? ''] as const
  })
  const [one, other] = spans
  expect((one?.[0] ?? '') < (other?.[1] ?? '') && (other?.[0] ?? '') < (one?.[1] ?? '')).toBe(true)
})

test('[COL-73, COL-39, COL-40, COL-43, COL-56] acceptance 3: a developer output can be traced to its task', async () => {
  const { document, events } = await demonstration()
  const spawned = of(events, 'agent.spawned').filter(
    ({ payload, parentRunId }) => parentRunId !== undefined && payload.agentId !== 'architect',
  )
  expect(document.sub_sessions.map((sub) => sub.sub_session_id)).toEqual(spawned.map(({ runId }) => runId))
  for (const sub of document.sub_sessions) {
    const runId = sub.sub_session_id
    const assigned = of(events, 'agent.task.assigned').find(
      ({ payload }) => payload.taskId === sub.task.task_id,
    )
    expect(sub.agent.agent_id).toBe(assigned?.payload.agentId)
    expect(sub.task).toEqual({
      task_id: assigned?.payload.taskId,
      description: assigned?.payload.description,
      priority: assigned?.payload.priority ?? 'medium',
      ...(assigned?.payload.dependencies && { dependencies: assigned.payload.dependencies }),
    })
    const ended = of(events, 'agent.completed').find((event) => event.runId === runId)
    expect([sub.started_at, sub.completed_at]).toEqual([
      of(events, 'agent.spawned').find((event) => event.runId === runId)?.timestamp,
      ended?.timestamp,
    ])
    const [report] = of(events, 'task.completed').filter(({ taskId }) => taskId === sub.task.task_id)
    expect(sub.output).toEqual(report?.payload.output)
    const task = document.tool_calls.find(({ call_id }) => call_id === sub.triggered_by_call_id)
    const tokens = of(events, 'llm.request.completed')
      .filter((event) => event.runId === runId)
      .reduce((sum, { payload }) => sum + tokenTotal(payload.usage), 0)
    expect(task).toMatchObject({
      tool_name: 'Task',
      input: { params: { input: assigned?.payload.input } },
      subagent_info: { sub_session_id: runId, tool_uses: sub.tool_calls.length, tokens_used: tokens },
    })
  }
  const changed = document.sub_sessions.flatMap(({ task, output }) =>
    output && 'changes' in output
      ? [...output.changes.files_created, ...output.changes.files_modified].map(
          ({ path, lines_added, lines_removed }) => [task.task_id, path, lines_added, lines_removed],
        )
      : [],
  )
  const collected = of(events, 'patch.created').filter(({ payload }) => payload.commit !== undefined)
  const patched = collected.flatMap(({ taskId, payload }) =>
    payload.files.map(({ path, linesAdded, linesRemoved }) => [taskId, path, linesAdded, linesRemoved]),
  )
  expect(changed.map(String).toSorted()).toEqual(patched.map(String).toSorted())
  expect(changed).toContainEqual(['shout-rev1', 'shout.mjs', 1, 1])
})

const answer = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
const judged = (number: number, verdict: string, findings: readonly object[] = []) => ({
  when: `"review_id": "review-${number}"`,
  steps: [answer({ verdict, summary: `It is ${verdict}.`, findings })],
})
const planned = (task_id: string) => {
  const description = `Write ${task_id}.txt. SCRIPT=play`
  const task = {
    task_id,
    title: task_id,
    description,
    scope: [`${task_id}.txt`],
    acceptance_criteria: ['it is there'],
  }
  return answer({ summary: `By ${task_id}.`, tasks: [task] })
}
const carriedOut = (task_id: string, file: string) => ({
  when: `"task_id": "${task_id}"`,
  steps: [
    // What is there is read before it is written over.
    { tools: [{ name: 'Read', input: { file_path: file } }] },
    { tools: [{ name: 'Write', input: { file_path: file, content: `${task_id}\n` } }] },
    answer({ status: 'completed', summary: `${file} is written.` }),
  ],
})
const finding = (finding_id: string, file: string) => ({
  finding_id,
  severity: 'major',
  category: 'logic',
  file,
  description: `${finding_id} is not right`,
})

test('[COL-73, COL-74, COL-28] acceptance 4 and 5: a reviewer rejects, asks for changes and approves, and each leads on: a new plan, a revision, the end', async () => {
  const m = await crewDaemon({
    parts: [
      judged(1, 'rejected', [finding('way', 'first.txt')]),
      judged(2, 'changes_requested', [finding('detail', 'second.txt')]),
      judged(3, 'approved'),
      carriedOut('first', 'first.txt'),
      carriedOut('second-rev2', 'second.txt'),
      carriedOut('second', 'second.txt'),
      { when: 'The reviewer rejected the work', steps: [planned('second')] },
      { when: 'You are the architect of a crew', steps: [planned('first')] },
    ],
  })
  const { workflow_id, session_id, branch } = await m.crew('Write something. SCRIPT=play')
  expect(await m.ended(workflow_id)).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      rounds: [{ verdict: 'rejected' }, { verdict: 'changes_requested' }, { verdict: 'approved' }],
      tasks: [{ task_id: 'first' }, { task_id: 'second' }, { task_id: 'second-rev2' }],
    },
  })
  const events = await m.events(session_id)
  expect(of(events, 'plan.created').map(({ payload }) => payload.tasks?.map(({ taskId }) => taskId))).toEqual(
    [['first'], ['second']],
  )
  const revision = of(events, 'agent.task.assigned').find(({ payload }) => payload.taskId === 'second-rev2')
  expect(JSON.stringify(revision?.payload.input)).toContain('detail is not right')
  expect(of(events, 'loop.round.completed').map(({ payload }) => payload.verdict)).toEqual([
    'rejected',
    'changes_requested',
    'approved',
  ])
  expect(m.git('show', `${branch}:second.txt`)).toBe('second-rev2\n')
  const { document } = await m.client().exportLog({ id: session_id })
  expect((document as MultiAgentSession).summary).toMatchObject({
    review_iterations: 3,
    final_verdict: 'approved',
  })
})

test('[COL-73, COL-74] acceptance 5: what is never approved ends at its limit, and says so', async () => {
  const m = await crewDaemon({
    parts: [
      judged(1, 'changes_requested', [finding('one', 'first.txt')]),
      judged(2, 'changes_requested', [finding('two', 'first.txt')]),
      carriedOut('first-rev1', 'first.txt'),
      carriedOut('first', 'first.txt'),
      { when: 'You are the architect of a crew', steps: [planned('first')] },
    ],
  })
  const { workflow_id, session_id } = await m.crew('Write something. SCRIPT=play', { max_iterations: 2 })
  const asked = await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  expect(asked).toMatchObject({ status: 'running' })
  await m.client().decideApproval({ id: session_id, verdict: 'deny', scope: 'once' })
  expect(await m.ended(workflow_id)).toMatchObject({
    report: {
      outcome: 'unapproved',
      rounds: [{ verdict: 'changes_requested' }, { verdict: 'changes_requested' }],
    },
  })
})

test('[COL-73, COL-75, COL-55] acceptance 6: a session of one agent is what it was', async () => {
  const m = await crewDaemon()
  const { document: multi } = await demonstration()
  const { collaboration: _c, sub_sessions: _s, messages: _m, ...base } = multi
  const tool_calls = base.tool_calls.filter(({ tool_name }) => tool_name !== 'Task')
  const summary = {
    total_duration_ms: base.summary.total_duration_ms,
    tool_calls_count: tool_calls.length,
    files_created: [],
    files_modified: [],
    errors_encountered: 0,
  }
  const { phase_annotations: _p, ...alone } = base
  const single = { ...alone, session_id: '2026-11-16-001-look-around', tool_calls, summary }
  expect(AgentSession.safeParse(single).error).toBeUndefined()
  expect(validateSession(single)).toEqual({ valid: true, errors: [], warnings: [] })
  expect([isMultiAgentSession(single), isMultiAgentSession(multi)]).toEqual([false, true])
  const { shortId } = await m.client().importLog({ document: single, filename: `${single.session_id}.json` })
  expect(await m.client().exportLog({ id: shortId })).toEqual({
    filename: `${single.session_id}.json`,
    kind: 'std-001',
    document: single,
  })
})

type Agent = { agent_id: string; agent_type: 'architect' | 'developer' | 'reviewer'; instance_id?: string }
/** The data model as the document on collaboration has it: what is written must be one of these. */
type Documented = {
  collaboration: {
    mode: 'single' | 'multi_agent'
    pattern: 'master_worker' | 'peer_to_peer' | 'pipeline'
    orchestrator: Agent
    participants: Agent[]
  }
  sub_sessions: {
    sub_session_id: string
    parent_session_id: string
    agent: Agent
    task: {
      task_id: string
      description: string
      priority: 'high' | 'medium' | 'low'
      dependencies?: string[]
    }
    started_at: string
    completed_at?: string
    status: 'success' | 'failed' | 'in_progress'
    triggered_by_call_id: string
    output?:
      | { task_id: string; status: 'completed' | 'partial' | 'failed'; summary: string }
      | { task_id: string; verdict: 'approved' | 'changes_requested' | 'rejected'; findings: object[] }
  }[]
}

test('[COL-73] acceptance 7: the types are those of the document, and compile', async () => {
  const { document } = await demonstration()
  const { collaboration, sub_sessions } = structuredClone(document) as unknown as Documented &
    MultiAgentSession satisfies Documented
  expect(MultiAgentSession.safeParse(document).error).toBeUndefined()
  expect([collaboration.mode, sub_sessions.length]).toEqual(['multi_agent', 5])
})

test('[COL-73, COL-75, COL-53] acceptance 8: the data of an example validate, and are read and written as they are', async () => {
  const { document, filename } = await demonstration()
  const text = JSON.parse(JSON.stringify(document)) as unknown
  const { session, repairs } = readSession(text, { filename })
  expect([session, repairs]).toEqual([document, []])
  const m = await crewDaemon()
  const { shortId, repairs: mended } = await m.client().importLog({ document: text, filename })
  expect(mended).toEqual([])
  expect(await m.client().exportLog({ id: shortId })).toEqual({ filename, kind: 'std-008', document })
})
