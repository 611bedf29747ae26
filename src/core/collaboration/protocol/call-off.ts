import { say } from './say.ts'
import { openWork } from './subject.ts'
import type { MessagePayload, Talk } from './talk.ts'

type CalledOff = { readonly talk: Talk; readonly messages: readonly MessagePayload[] }

/** Calls a task or a review off for whoever still has it; work that nobody has needs no word. */
export function callOff(talk: Talk, name: string, reason: string): CalledOff {
  const given = openWork(talk, name)
  const worker = talk.said.find(({ messageId }) => messageId === given)?.to
  if (worker === undefined) return { talk, messages: [] }
  const said = say(talk, {
    from: talk.orchestrator,
    to: worker,
    type: 'abort',
    payload: { scope: 'task', target_id: name, reason, cleanup_required: false },
  })
  if ('problems' in said) throw new Error(`a message breaks the protocol: ${said.problems.join('; ')}`)
  return { talk: said.talk, messages: [said.message] }
}

/** Calls off all work that nobody has reported on, the oldest first. */
export function callOffAll(talk: Talk, reason: string): CalledOff {
  const open = Object.entries({ ...talk.assignments, ...talk.reviews })
    .map(([name, messageId]) => ({ name, at: talk.said.findIndex((one) => one.messageId === messageId) }))
    .toSorted((a, b) => a.at - b.at)
  let now: CalledOff = { talk, messages: [] }
  for (const { name, at } of open) {
    // What is partly done stays assigned, and its completion was sent.
    const isReported = talk.said
      .slice(at + 1)
      .some(({ messageType, taskId }) => messageType === 'task_completion' && taskId === name)
    if (isReported) continue
    const next = callOff(now.talk, name, reason)
    now = { talk: next.talk, messages: [...now.messages, ...next.messages] }
  }
  return now
}
