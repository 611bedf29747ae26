import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { developerInput } from './developer-work.ts'
import { type MessageLog, newMessageLog, type OutgoingMessage } from './message-protocol.ts'
import { callOffAll, sendMessage } from './send-message.ts'

const agents = ['dev-1', 'dev-2', 'dev-3'].map((agentId) => ({ agentId, agentType: 'developer' }))
const input = { crew: { limits: {} }, request: 'r' } as never

function after(talk: MessageLog, utterance: OutgoingMessage): MessageLog {
  const said = sendMessage(talk, utterance)
  if ('problems' in said) throw new Error(said.problems.join('; '))
  return said.talk
}

const assign = (talk: MessageLog, id: string, to: string) =>
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
  let talk = newMessageLog('w', { agentId: 'arch', agentType: 'architect' }, agents)
  talk = assign(talk, 'b', 'dev-1')
  talk = assign(talk, 'a', 'dev-2')
  talk = assign(talk, 'done', 'dev-3')
  talk = completed(talk, 'done', 'completed', 'dev-3')
  talk = assign(talk, 'half', 'dev-3')
  talk = completed(talk, 'half', 'partial', 'dev-3')
  const off = callOffAll(talk, 'enough')
  expect(off.messages).toMatchObject([
    { sequenceNumber: 7, to: { agentId: 'dev-1' }, payload: { target_id: 'b', reason: 'enough' } },
    { sequenceNumber: 8, to: { agentId: 'dev-2' }, payload: { target_id: 'a', reason: 'enough' } },
  ])
  expect(callOffAll(off.talk, 'again').messages).toEqual([])
})
