import { expect, test } from 'vitest'
import { bodyText } from '../../src/contract/body-text.ts'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import type { AgentSession } from '../../src/contract/session-file/agent-session.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { bash, done, played, playedTask, said, write } from '../support/crew-play.ts'
import { eventually } from '../support/session-daemon.ts'

type Call = AgentSession['tool_calls'][number]
type CallEnd = EventOf<'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied'>

const of = <T extends EventType>(events: readonly AgentEvent[], type: T): EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type)

/** Calls of every kind: one that reads, one that changes, a command that works, one that does not, and one that is refused. */
const work = [
  { tools: [{ name: 'Read', input: { file_path: 'greet.mjs' } }] },
  write('note.txt', 'note\n'),
  bash('cat note.txt'),
  bash('echo lost; exit 3'),
  write('../outside.txt', 'x'),
  done('The note is there.'),
]
const parts = [
  { when: 'All alone', steps: work },
  {
    when: '"review_id": "review-1"',
    steps: [
      bash('cat note.txt'),
      said({ verdict: 'approved', summary: 'Good.', findings: [], commendations: [] }),
    ],
  },
  { when: '"task_id": "note"', steps: work },
  {
    when: 'You are the architect',
    steps: [
      { tools: [{ name: 'Glob', input: { pattern: '*' } }] },
      said({ summary: 'One.', tasks: [playedTask('note', ['note.txt'])] }),
    ],
  },
]

/** The calls of a journal, each with its two ends. */
function recordedCalls(events: readonly AgentEvent[]) {
  const ends: CallEnd[] = [
    ...of(events, 'tool.call.completed'),
    ...of(events, 'tool.call.failed'),
    ...of(events, 'tool.call.denied'),
  ]
  return of(events, 'tool.call.started').map((started) => {
    const [end, ...more] = ends.filter(({ spanId }) => spanId === started.spanId)
    expect(more).toEqual([])
    if (!end) throw new Error(`${started.payload.callId} has no end`)
    return { started, end }
  })
}

/** What a file has to say of a call: what the journal says, to the letter. */
const asRecorded = ({ started, end }: ReturnType<typeof recordedCalls>[number]) => ({
  call_id: started.payload.callId,
  tool_name: started.payload.tool,
  started_at: started.timestamp,
  ended_at: end.timestamp,
  input: { params: started.payload.params },
  output: {
    status: end.type === 'tool.call.completed' ? 'success' : 'failed',
    ...('result' in end.payload && end.payload.result !== undefined && { result: end.payload.result }),
    ...(end.type === 'tool.call.denied' && {
      error: expect.stringContaining(bodyText(end.payload.reason) ?? ''),
    }),
  },
})

/** A call without what differs from one time to the next: its name, its time, and where the project lay. */
const likeness = (call: Call) => {
  const { call_id: _id, started_at: _start, ended_at: _end, duration_ms: _ms, ...rest } = call
  return JSON.parse(JSON.stringify(rest).replaceAll(/\/[^"\s]*\/(?=[^/"\s]*)/g, '/'))
}

test('[COL-8] the tool call stays the unit of work: a collaboration has each call once and as it was made, and one agent alone makes the same', async () => {
  const m = await played(parts)
  const { workflow_id, session_id } = await m.play('Write a note.', {})
  expect(await m.ended(workflow_id)).toMatchObject({ report: { outcome: 'approved' } })
  const events = await m.events(session_id)
  const calls = recordedCalls(events)
  expect(calls.map(({ started, end }) => `${started.actor} ${started.payload.tool} ${end.type}`)).toEqual([
    'architect Glob tool.call.completed',
    'developer-1 Read tool.call.completed',
    'developer-1 Write tool.call.completed',
    'developer-1 Bash tool.call.completed',
    'developer-1 Bash tool.call.failed',
    'developer-1 Write tool.call.denied',
    'reviewer Bash tool.call.completed',
  ])
  const { document } = await m.client().exportLog({ id: session_id })
  const { tool_calls, sub_sessions } = document as MultiAgentSession
  const all = [
    ...tool_calls.map((call) => ({ owner: 'root', call })),
    ...sub_sessions.flatMap((sub) => sub.tool_calls.map((call) => ({ owner: sub.sub_session_id, call }))),
  ]
  // Beside the calls that were made there are only the links: one Task for each sub-session.
  const links = all.filter(({ call }) => call.tool_name === 'Task')
  expect(links.map(({ call }) => call.subagent_info?.sub_session_id)).toEqual(
    sub_sessions.map((sub) => sub.sub_session_id),
  )
  const made = all.filter(({ call }) => call.tool_name !== 'Task')
  expect(made).toHaveLength(calls.length)
  for (const recorded of calls) {
    const { runId, actor, payload } = recorded.started
    const [found, ...more] = made.filter(({ call }) => call.call_id === payload.callId)
    expect(more).toEqual([])
    expect(found?.owner).toBe(actor === 'architect' ? 'root' : runId)
    expect(found?.call).toMatchObject(asRecorded(recorded))
  }

  // The same work without a collaboration around it: the same calls.
  const chat = await m.client().chat({
    project_root: m.repo,
    agent_id: 'engineer',
    message: 'All alone. SCRIPT=play',
  })
  await eventually(
    () => m.events(chat.session_id, 'agent.completed'),
    (ended) => ended.length > 0,
  )
  const alone = recordedCalls(await m.events(chat.session_id))
  const single = (await m.client().exportLog({ id: chat.session_id })).document as AgentSession
  expect(single.tool_calls).toMatchObject(alone.map(asRecorded))
  expect(single).not.toHaveProperty('collaboration')
  const [developer] = sub_sessions
  expect(developer?.tool_calls.map(likeness)).toEqual(single.tool_calls.map(likeness))
})
