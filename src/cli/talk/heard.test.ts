import { expect, test } from 'vitest'
import { heardIn } from './heard.ts'

const heard = (event: string, data: object) =>
  heardIn({ id: '1.0', event, data: { type: event, session_id: 's', run_id: 'r', ...data } })

test('[MUS-271] words, calls, ends and receipts are told apart in one stream', () => {
  expect(heard('Token', { agent_id: 'a', token: 'hi', done: true })).toEqual({
    kind: 'words',
    runId: 'r',
    agent: 'a',
    text: 'hi',
    isDone: true,
    isLossy: false,
  })
  expect(heard('Token', { agent_id: 'a', token: 'hm', thinking: true })).toBeUndefined()
  expect(heard('Token', { agent_id: 'a', token: 'hi', dropped: 3 })).toMatchObject({ isLossy: true })
  const call = { agent_id: 'a', status: 'calling_tool', status_id: 'c', tool: 'Read' }
  expect(heard('AgentStatus', { ...call, target: 'a.ts' })).toEqual({
    kind: 'tool',
    runId: 'r',
    agent: 'a',
    callId: 'c',
    tool: 'Read',
    target: 'a.ts',
  })
  expect(heard('AgentStatus', { ...call, result: 'denied', reason: 'no' })).toMatchObject({
    result: 'denied',
    reason: 'no',
  })
  expect(heard('AgentStatus', { agent_id: 'a', status: 'thinking', detail: 'Thinking' })).toEqual({
    kind: 'status',
    runId: 'r',
    agent: 'a',
    status: 'thinking',
    detail: 'Thinking',
    isTurn: false,
  })
  expect(heard('AgentStatus', { agent_id: 'a', status: 'thinking', status_id: 's' })).toMatchObject({
    kind: 'status',
    isTurn: true,
  })
  const own = { agent_id: 'a', status: 'thinking', status_id: 'r', lifecycle: 'doing' }
  expect(heard('AgentStatus', own)).toMatchObject({ kind: 'status', isTurn: false })
  const printed = { ...own, status: 'calling_tool', detail: 'Calling Bash: 3 of 4' }
  expect(heard('AgentStatus', printed)).toMatchObject({ kind: 'status', detail: 'Calling Bash: 3 of 4' })
  expect(heard('AgentStatus', { ...own, status_id: 's', lifecycle: 'done' })).toBeUndefined()
  expect(heard('Outcome', { agent_id: 'a', outcome: { status: 'failed', detail: 'why' } })).toEqual({
    kind: 'ended',
    runId: 'r',
    agent: 'a',
    outcome: { status: 'failed', detail: 'why' },
  })
  expect(heard('StateUpdated', { event: 'message.accepted', message_id: 'm' })).toEqual({
    kind: 'taken',
    runId: 'r',
    messageId: 'm',
  })
  expect(heard('StateUpdated', { event: 'approval.requested' })).toEqual({ kind: 'asked', runId: 'r' })
  expect(heard('StateUpdated', { event: 'something.newer' })).toBeUndefined()
  expect(heard('Dream', {})).toBeUndefined()
  expect(heard('resync', {})).toEqual({ kind: 'gap' })
})
