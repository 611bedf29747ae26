import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask, reviewFinding } from '../../../test/support/collaboration.ts'
import { catalogue } from '../../contract/event.ts'
import { newMessageLog, type OutgoingMessage } from '../collaboration/message-protocol.ts'
import { sendMessage } from '../collaboration/send-message.ts'
import {
  acknowledgment,
  assignedFact,
  assignmentMessage,
  completedFact,
  type Delegation,
  endMessage,
  failedFact,
  findingFacts,
} from './delegation-facts.ts'
import { developerInput, developerOutput } from './developer-work.ts'

const input = developerInput({ task: planTask('a'), attempts: [] })
const task = {
  assignment: { kind: 'developer', taskId: 'a', input },
  from: 'arch',
  to: 'dev',
  priority: 'high',
  dependencies: ['b'],
  maxIterations: 3,
} as const satisfies Delegation
const review = {
  assignment: { kind: 'reviewer', taskId: 'review-1', input: { review_id: 'review-1', task_id: 'a' } },
  from: 'arch',
  to: 'rev',
} as const satisfies Delegation
const words: Delegation = {
  assignment: { kind: 'text', taskId: 't', prompt: 'Look.' },
  from: 'lead',
  to: 'search',
}

test.each<[string, Delegation, object]>([
  [
    'a task',
    task,
    {
      taskId: 'a',
      description: input.task_description,
      priority: 'high',
      dependencies: ['b'],
      agentId: 'dev',
      assignedBy: 'arch',
      input,
    },
  ],
  [
    'a review',
    review,
    { taskId: 'review-1', description: 'Review of a', agentId: 'rev', assignedBy: 'arch' },
  ],
  ['a review with a title', { ...review, about: 'Review round 1' }, { description: 'Review round 1' }],
  ['words', words, { taskId: 't', description: 'Look.', agentId: 'search', assignedBy: 'lead' }],
])('[MUS-354] an assignment says who was given what: %s', (_, given, payload) => {
  const fact = assignedFact(given)
  expect(fact).toMatchObject(payload)
  expect('input' in fact).toBe('input' in given.assignment)
  expect(catalogue['agent.task.assigned'].payload.safeParse(fact).success).toBe(true)
})

test('[MUS-354][COL-34] the messages of a task and of a review are those of the protocol, there and back', () => {
  const agent = (agentId: string) => ({ agentId, agentType: agentId })
  let talk = newMessageLog('w', { coordinators: [agent('arch')], others: [agent('dev'), agent('rev')] })
  const say = (message: OutgoingMessage): string => {
    const said = sendMessage(talk, message)
    if ('problems' in said) return expect.unreachable(said.problems.join())
    talk = said.talk
    return said.message.messageId
  }
  say(acknowledgment(task, say(assignmentMessage(task))))
  say(endMessage(task, developerOutput('a', { status: 'completed', summary: 's' }, [])))
  say(assignmentMessage(review))
  const verification = { tests_passed: false, type_check_passed: false }
  const judged = { review_id: 'review-1', task_id: 'a', findings: [], summary: 's', verification }
  say(endMessage(review, { ...judged, verdict: 'approved' }))
  expect(talk).toMatchObject({ assignments: {}, reviews: {} })
})

test('[MUS-354][COL-63] a failure says what may be done about it only where it can be tried again', () => {
  const failure = { kind: 'timeout', error: 'too\nlong' } as const
  expect(failedFact('dev', failure, { attempt: 1 })).toEqual({
    agentId: 'dev',
    reason: 'too long',
    errorType: 'timeout',
    recoverable: true,
    suggestedAction: 'retry',
  })
  expect(failedFact('rev', failure)).toEqual({
    agentId: 'rev',
    reason: 'too long',
    errorType: 'timeout',
    recoverable: false,
  })
})

test('[MUS-354] whatever was said, ends and findings are events as they are', () => {
  const finding = fc.record({
    id: fc.string({ minLength: 1 }),
    file: fc.string(),
    line: fc.option(fc.nat(), { nil: undefined }),
    rationale: fc.option(fc.string(), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.string(), fc.array(finding), (text, found) => {
      const findings = found.map(({ id, file, line, rationale }) =>
        reviewFinding(id, {
          file,
          ...(line !== undefined && { line }),
          ...(rationale !== undefined && { rationale }),
        }),
      )
      for (const fact of findingFacts('review-1', findings))
        expect(catalogue['verifier.issue.found'].payload.safeParse(fact).success).toBe(true)
      const failed = failedFact('dev', { kind: 'exception', error: text.repeat(900) }, { attempt: 2 })
      expect(catalogue['task.failed'].payload.safeParse(failed).success).toBe(true)
      const completed = completedFact('dev', { summary: text.repeat(900) })
      expect(catalogue['task.completed'].payload.safeParse(completed).success).toBe(true)
    }),
  )
})
