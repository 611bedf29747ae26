import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { catalogue } from '../../contract/event.ts'
import { developerInput } from '../delegation/developer-work.ts'
import {
  type MessageLog,
  type MessagePayload,
  newMessageLog,
  type OutgoingMessage,
  withAgent,
} from './message-protocol.ts'
import { callOffAll, sendMessage } from './send-message.ts'

const agent = (agentId: string, agentType: string) => ({ agentId, agentType })
const workers = [agent('dev', 'developer'), agent('dev2', 'developer'), agent('rev', 'reviewer')]
const start = newMessageLog('wf_1', { coordinators: [agent('arch', 'architect')], others: workers })

const assign = (task_id: string, to = 'dev'): OutgoingMessage => ({
  from: 'arch',
  to,
  type: 'task_assignment',
  payload: { task: { task_id, task_description: 'd' }, priority: 'high' },
})
const complete = (
  task_id: string,
  status: 'completed' | 'partial' | 'failed' = 'completed',
): OutgoingMessage => ({
  from: 'dev',
  to: 'arch',
  type: 'task_completion',
  payload: { task_id, status, summary: 's' },
})
const ask = (review_id: string): OutgoingMessage => ({
  from: 'arch',
  to: 'rev',
  type: 'review_request',
  payload: { review_id, task_id: 'whole' },
})
const judge = (names: { review_id?: string; task_id?: string }): OutgoingMessage => ({
  from: 'rev',
  to: 'arch',
  type: 'review_result',
  payload: { verdict: 'approved', ...names },
})
const feedback = (from: string, to: string): OutgoingMessage => ({
  from,
  to,
  type: 'feedback',
  payload: { feedback_type: 'question', subject: 's', content: 'c', action_required: false },
})

/** Says all of them; each has to be allowed. */
function spoken(
  ...utterances: readonly (OutgoingMessage | ((said: readonly MessagePayload[]) => OutgoingMessage))[]
) {
  let talk: MessageLog = start
  const said: MessagePayload[] = []
  for (const each of utterances) {
    const answer = sendMessage(talk, typeof each === 'function' ? each(said) : each)
    if (!('talk' in answer)) return expect.unreachable(answer.problems.join('; '))
    talk = answer.talk
    said.push(answer.message)
  }
  return { talk, said }
}

const problems = (talk: MessageLog, utterance: OutgoingMessage): readonly string[] => {
  const answer = sendMessage(talk, utterance)
  return 'problems' in answer ? answer.problems : []
}

const progress = (task_id: string): OutgoingMessage => ({
  from: 'dev',
  to: 'arch',
  type: 'task_progress',
  payload: { task_id, current_step: 'half way', files_modified_so_far: ['a.ts'] },
})

const idOf = (message: MessagePayload | undefined): string => message?.messageId ?? ''
const whole = () =>
  spoken(
    assign('t1'),
    ([assigned]) => ({
      from: 'dev',
      to: 'arch',
      type: 'acknowledgment',
      payload: { acknowledged_message_id: idOf(assigned), accepted: true },
    }),
    progress('t1'),
    complete('t1'),
    ask('review-1'),
    judge({ review_id: 'review-1' }),
    feedback('dev2', 'rev'),
    { from: 'arch', to: 'dev', type: 'status_query', payload: { subject_id: 'dev' } },
    (said) => ({
      from: 'dev',
      to: 'arch',
      type: 'status_response',
      payload: { state: 'idle' },
      replyTo: idOf(said[7]),
    }),
    assign('t2'),
    {
      from: 'arch',
      to: 'dev',
      type: 'abort',
      payload: { scope: 'task', target_id: 't2', reason: 'r', cleanup_required: true },
    },
  )

test('[COL-34] all messages of a task share a correlation, and each answers what it belongs to', () => {
  const { said } = whole()
  const [assigned, acknowledged, progress, completion, request, result, , query, response] = said
  for (const message of [acknowledged, progress, completion]) {
    expect(message?.correlationId).toBe(assigned?.correlationId)
    expect(message?.replyTo).toBe(assigned?.messageId)
  }
  expect(assigned).not.toHaveProperty('replyTo')
  expect(result).toMatchObject({ correlationId: request?.correlationId, replyTo: request?.messageId })
  expect(response).toMatchObject({ correlationId: query?.correlationId, replyTo: query?.messageId })
  expect(request?.correlationId).not.toBe(assigned?.correlationId)
  expect(said[9]?.correlationId).toBe(said[10]?.correlationId)
})

test('[COL-34] messages are events as they are, numbered without gaps, and a repeat gives the same ones', () => {
  const { said } = whole()
  expect(said.map((message) => message.sequenceNumber)).toEqual(said.map((_, i) => i + 1))
  for (const message of said)
    expect(catalogue['agent.message.created'].payload.safeParse(message).success).toBe(true)
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  for (const message of said) expect(message.messageId).toMatch(uuid)
  expect(new Set(said.map((message) => message.messageId)).size).toBe(said.length)
  expect(new Set(said.map((message) => message.messageType)).size).toBe(10)
  expect(whole()).toEqual({ talk: whole().talk, said })
  const other = sendMessage({ ...start, workflowId: 'wf_2' }, assign('t1'))
  expect('message' in other && other.message.messageId).not.toBe(said[0]?.messageId)
})

test.each<[string, OutgoingMessage, string]>([
  ['an assignment by a developer', { ...assign('x', 'dev2'), from: 'dev' }, 'comes from arch, not from dev'],
  ['a review asked for by a developer', { ...ask('x'), from: 'dev' }, 'comes from arch, not from dev'],
  ['a completion for a developer', { ...complete('t1'), to: 'dev2' }, 'goes to arch, not to dev2'],
  ['a result for a developer', { ...judge({ review_id: 'r1' }), to: 'dev2' }, 'goes to arch, not to dev2'],
])('[COL-50] %s is refused', (_, utterance, words) => {
  const { talk } = spoken(assign('t1'), ask('r1'))
  expect(problems(talk, utterance)).toEqual([expect.stringContaining(words)])
})

test('[COL-51] feedback goes between any two agents of the collaboration, and no others', () => {
  const ids = start.agents.map((each) => each.agentId)
  for (const from of ids)
    for (const to of ids)
      expect(problems(start, feedback(from, to))).toEqual(
        from === to ? [`${from} cannot send a message to itself`] : [],
      )
  expect(problems(start, feedback('dev', 'ghost'))).toEqual(['ghost takes no part in this collaboration'])
  const joined = withAgent(start, agent('ghost', 'tester'))
  expect(problems(joined, feedback('dev', 'ghost'))).toEqual([])
  expect(withAgent(joined, agent('ghost', 'developer'))).toBe(joined)
})

test('[COL-52] a status update goes to the architect as task_progress or status_response', () => {
  const { talk } = spoken(assign('t1'))
  const ofTask = progress('t1')
  expect(problems(talk, ofTask)).toEqual([])
  const ofAgent: OutgoingMessage = {
    from: 'rev',
    to: 'arch',
    type: 'status_response',
    payload: { state: 'working', detail: 'reading' },
  }
  expect(problems(talk, ofAgent)).toEqual([])
  expect(problems(talk, { ...ofTask, to: 'dev2' })).toHaveLength(1)
  expect(problems(talk, { ...ofAgent, to: 'dev2' })).toHaveLength(1)
})

test('[COL-34] a completion belongs to an open assignment of who sends it, a result to an open request', () => {
  const { talk } = spoken(assign('t1'), ask('r1'))
  expect(problems(talk, complete('t9'))).toEqual([
    't9 is not an open assignment, so it cannot have a task_completion',
  ])
  expect(problems(talk, { ...complete('t1'), from: 'dev2' })).toEqual(['t1 is assigned to dev, not to dev2'])
  expect(problems(talk, judge({ review_id: 'r9' }))).toEqual([
    'no review r9 is open, so it cannot have a result',
  ])
  expect(problems(talk, { ...judge({ review_id: 'r1' }), from: 'dev' })).toHaveLength(1)
  expect(problems(talk, judge({ task_id: 'whole' }))).toEqual([])
  const { talk: after } = spoken(assign('t1'), complete('t1'), ask('r1'), judge({ task_id: 'whole' }))
  expect(problems(after, complete('t1'))).toHaveLength(1)
  expect(problems(after, judge({ review_id: 'r1' }))).toHaveLength(1)
  expect(problems(after, ask('r1'))).toHaveLength(1)
  expect(problems(spoken(assign('t1'), complete('t1', 'partial')).talk, complete('t1'))).toEqual([])
})

test('[COL-34] a task is assigned once, and again only when it failed or was called off', () => {
  expect(problems(spoken(assign('t1')).talk, assign('t1'))).toEqual(['t1 is assigned already'])
  expect(problems(spoken(assign('t1'), complete('t1')).talk, assign('t1'))).toHaveLength(1)
  const { talk } = spoken(assign('t1'), complete('t1', 'failed'))
  expect(problems(talk, assign('t1', 'dev2'))).toEqual([])
  expect(problems(whole().talk, assign('t2', 'dev2'))).toEqual([])
})

test('[COL-34] a review that is called off is over: there is no result of it, and it is not asked for again', () => {
  const off = { scope: 'task', target_id: 'r1', reason: 'too late', cleanup_required: false } as const
  const callOff: OutgoingMessage = { from: 'arch', to: 'rev', type: 'abort', payload: off }
  const { talk } = spoken(ask('r1'), callOff)
  expect(problems(talk, judge({ review_id: 'r1' }))).toHaveLength(1)
  expect(problems(talk, ask('r1'))).toHaveLength(1)
  expect(problems(talk, callOff)).toHaveLength(1)
  expect(problems(talk, ask('r2'))).toEqual([])
})

test('[COL-34] an answer to nothing and a payload of another shape are refused with reasons', () => {
  expect(problems(start, { ...feedback('dev', 'rev'), replyTo: 'nope' })).toEqual([
    'no message nope was sent that could be answered',
  ])
  const { talk, said } = spoken(assign('t1'))
  const acknowledge = { acknowledged_message_id: idOf(said[0]), accepted: true }
  expect(
    problems(talk, { from: 'dev2', to: 'arch', type: 'acknowledgment', payload: acknowledge }),
  ).toHaveLength(1)
  const wrong = { ...complete('t1'), payload: { task_id: 't1' } } as unknown as OutgoingMessage
  expect(problems(talk, wrong)).toEqual([expect.stringContaining('payload.status')])
  const abort = { scope: 'task', target_id: 'x', reason: 'r', cleanup_required: false } as const
  expect(problems(talk, { from: 'arch', to: 'dev', type: 'abort', payload: abort })).toHaveLength(1)
})

test('[COL-34] whatever is said, numbers have no gaps and no refusal changes anything', () => {
  const names = fc.constantFrom('arch', 'dev', 'dev2', 'rev', '__proto__')
  const ids = fc.constantFrom('t1', 't2', '__proto__', 'constructor')
  const utterance = fc.oneof(
    fc.tuple(ids, names).map(([id, to]) => assign(id, to)),
    fc.tuple(ids, names).map(([id, from]) => ({ ...complete(id), from }) as OutgoingMessage),
    ids.map((id) => complete(id, 'failed')),
    ids.map(ask),
    ids.map((review_id) => judge({ review_id })),
    fc.tuple(names, names).map(([from, to]) => feedback(from, to)),
  )
  fc.assert(
    fc.property(fc.array(utterance, { maxLength: 30 }), (utterances) => {
      let talk = start
      let n = 0
      for (const each of utterances) {
        const answer = sendMessage(talk, each)
        if (!('talk' in answer)) continue
        n += 1
        expect(answer.message.sequenceNumber).toBe(n)
        talk = JSON.parse(JSON.stringify(answer.talk)) as MessageLog
        expect(answer.talk).toEqual(talk)
      }
      expect(talk.said).toHaveLength(n)
    }),
  )
})

const agents = ['dev-1', 'dev-2', 'dev-3'].map((agentId) => ({ agentId, agentType: 'developer' }))
const input = { crew: { limits: {} }, request: 'r' } as never

function after(talk: MessageLog, utterance: OutgoingMessage): MessageLog {
  const said = sendMessage(talk, utterance)
  if ('problems' in said) throw new Error(said.problems.join('; '))
  return said.talk
}

const assigned = (talk: MessageLog, id: string, to: string) =>
  after(talk, {
    from: 'arch',
    to,
    type: 'task_assignment',
    payload: {
      task: developerInput({ task: planTask(id), attempts: [] }, input),
      priority: 'medium',
      max_iterations: 3,
    },
  })
const completed = (talk: MessageLog, id: string, status: 'completed' | 'partial', from: string) =>
  after(talk, {
    from,
    to: 'arch',
    type: 'task_completion',
    payload: {
      task_id: id,
      status,
      summary: 's',
      changes: { files_created: [], files_modified: [], files_deleted: [] },
    },
  })

test('[COL-26] whoever has not reported is called off, the oldest first and once, and the numbers go on', () => {
  let talk = newMessageLog('w', { coordinators: [agent('arch', 'architect')], others: agents })
  talk = assigned(talk, 'b', 'dev-1')
  talk = assigned(talk, 'a', 'dev-2')
  talk = assigned(talk, 'done', 'dev-3')
  talk = completed(talk, 'done', 'completed', 'dev-3')
  talk = assigned(talk, 'half', 'dev-3')
  talk = completed(talk, 'half', 'partial', 'dev-3')
  const off = callOffAll(talk, 'enough')
  expect(off.messages).toMatchObject([
    { sequenceNumber: 7, to: { agentId: 'dev-1' }, payload: { target_id: 'b', reason: 'enough' } },
    { sequenceNumber: 8, to: { agentId: 'dev-2' }, payload: { target_id: 'a', reason: 'enough' } },
  ])
  expect(callOffAll(off.talk, 'again').messages).toEqual([])
})

test('[MUS-353][COL-50] with several that coordinate, results and news go to whoever gave the work, and to no other', () => {
  const lead = agent('lead', 'architect')
  const begin = newMessageLog('wf_1', { coordinators: [agent('arch', 'architect'), lead], others: workers })
  const given = sendMessage(begin, { ...assign('t1'), from: 'lead' })
  if (!('talk' in given)) return expect.unreachable(given.problems.join())
  const { talk } = given
  expect(problems(talk, complete('t1'))).toEqual(['a task_completion goes to lead, not to arch'])
  expect(problems(talk, progress('t1'))).toEqual(['a task_progress goes to lead, not to arch'])
  expect(problems(talk, { ...complete('t1'), to: 'lead' })).toEqual([])
  expect(problems(talk, { ...assign('t2'), from: 'dev2' })).toEqual([
    'a task_assignment comes from arch or lead, not from dev2',
  ])
  // Who calls it off is whoever gave it.
  expect(callOffAll(talk, 'enough').messages.map(({ from, to }) => [from.agentId, to.agentId])).toEqual([
    ['lead', 'dev'],
  ])
})

test('[MUS-353] among peers each may give work, and only whoever gave it hears of it and calls it off', () => {
  const peers = newMessageLog('wf_1', { others: workers })
  const given = sendMessage(peers, { ...assign('t1'), from: 'dev2' })
  if (!('talk' in given)) return expect.unreachable(given.problems.join())
  const { talk } = given
  expect(problems(talk, { ...complete('t1'), to: 'rev' })).toEqual([
    'a task_completion goes to dev2, not to rev',
  ])
  const abort = { scope: 'task', target_id: 't1', reason: 'r', cleanup_required: false } as const
  expect(problems(talk, { from: 'rev', to: 'dev', type: 'abort', payload: abort })).toEqual([
    'an abort comes from dev2, not from rev',
  ])
  expect(problems(talk, { from: 'dev2', to: 'dev', type: 'abort', payload: abort })).toEqual([])
})
