import { expect, test } from 'vitest'
import { collaboration, developer, fileOf } from '../../test/support/std-008-file.ts'
import { LiveSession } from '../../test/support/std-008-live.ts'

test('[LOG-79, LOG-81, LOG-82, LOG-69, COL-50] the life of a task is told in messages, in order and joined', () => {
  const live = new LiveSession()
  const a = live.spawn(live.main, developer('A'))
  live.spawn(live.main, developer('B'))
  live.add(a, 'progress.checkpoint', { message: 'half way', progressPercent: 50 })
  live.end(a, 'failed', { reason: 'timeout' })
  const { document } = fileOf(live.events)
  const told = document.messages.filter(
    (each) => each.correlation_id === document.messages[0]?.correlation_id,
  )
  expect(told.map((each) => [each.message_type, each.from_agent.agent_id, each.to_agent.agent_id])).toEqual([
    ['task_assignment', 'main', 'dev-A'],
    ['acknowledgment', 'dev-A', 'main'],
    ['task_progress', 'dev-A', 'main'],
    ['task_completion', 'dev-A', 'main'],
  ])
  expect(told[1]).toMatchObject({
    reply_to: told[0]?.message_id,
    payload: { acknowledged_message_id: told[0]?.message_id, accepted: true },
  })
  expect(told[2]?.payload).toEqual({ task_id: 'A', progress_percent: 50, current_step: 'half way' })
  expect(told[3]?.payload).toMatchObject({ task_id: 'A', status: 'failed' })
  expect(document.messages.map((each) => each.sequence_number)).toEqual([1, 2, 3, 4, 5, 6])
})

test('[LOG-83, LOG-84, LOG-70] reviews and aborts are told', () => {
  const live = collaboration()
  live.delegate(live.main, { id: 'task-d', agent: developer('D'), end: 'killed' })
  const { messages } = fileOf(live.events).document
  const of = (type: string) =>
    messages.filter((each) => each.message_type === type).map((each) => each.payload)
  expect(of('review_request')).toEqual([
    { review_id: 'r1', task_id: 'B' },
    { review_id: 'r2', task_id: 'B' },
  ])
  expect(of('review_result')).toMatchObject([
    { task_id: 'B', verdict: 'changes_requested' },
    { task_id: 'B', verdict: 'approved' },
  ])
  expect(of('abort')).toEqual([{ scope: 'task', target_id: 'D', reason: 'killed', cleanup_required: false }])
})

test('[LOG-79] a message that was really sent stands for the one that would be derived, and free text is guidance', () => {
  const live = new LiveSession()
  const [boss, dev] = [
    { agentId: 'main', agentType: 'architect' },
    { agentId: 'dev-A', agentType: 'developer' },
  ]
  live.add(live.main, 'agent.message.created', {
    messageId: 'm-1',
    from: boss,
    to: dev,
    messageType: 'task_assignment',
    payload: { task: { task_id: 'A', task_description: 'own words' } },
  })
  live.delegate(live.main, { id: 'a', agent: developer('A') })
  live.delegate(live.main, { id: 'b', agent: developer('B') })
  live.add(live.main, 'agent.message.created', {
    messageId: 'm-2',
    from: boss,
    to: dev,
    text: 'mind the gap',
    replyTo: 'm-1',
  })
  const { messages } = fileOf(live.events).document
  const sent = messages.filter((each) => each.message_type === 'task_assignment')
  expect(sent.map((each) => each.original_message_id)).toEqual(['m-1', undefined])
  expect(messages.find((each) => each.message_type === 'acknowledgment')?.reply_to).toBe(sent[0]?.message_id)
  expect(messages.at(-1)).toMatchObject({
    message_type: 'feedback',
    reply_to: sent[0]?.message_id,
    payload: { content: 'mind the gap' },
  })
})
