import { expect, test } from 'vitest'
import type { AgentEvent } from '../src/contract/event.ts'
import { call, definition, ownAgents, script } from './support/own-agents.ts'
import { openScriptBed, scriptInput } from './support/script-bed.ts'

type Turn = { readonly agent: 'developer' | 'reviewer'; readonly input: object; readonly answer: object }

const developed = (task_id: string, status: string, more: object = {}): Turn => ({
  agent: 'developer',
  input: { task_id, task_description: `Do ${task_id}.`, constraints: { scope: ['src/**'] } },
  answer: { status, summary: `${task_id} is ${status}.`, ...more },
})
const reviewed = (review_id: string, verdict: string, more: object): Turn => ({
  agent: 'reviewer',
  input: { review_id, task_id: 'T1', review_scope: { files: ['src/a.ts'] } },
  answer: { verdict, summary: `${review_id} is ${verdict}.`, ...more },
})
const finding = {
  finding_id: 'finding-001',
  severity: 'critical',
  category: 'bug',
  file: 'src/a.ts',
  line: 3,
  description: 'It forgets the empty input.',
}

/** Two tasks, one of them done in part, changes requested once, then approved. */
const story: readonly Turn[] = [
  developed('T1', 'completed'),
  developed('T2', 'partial', { blockers: ['half of it is missing'] }),
  reviewed('R1', 'changes_requested', { findings: [finding] }),
  developed('T2-rev', 'completed'),
  reviewed('R2', 'approved', { findings: [], addressed: ['r1-finding-001'] }),
]

async function toldByTask(): Promise<readonly AgentEvent[]> {
  const sub = (name: string) => definition(name, { kind: 'subagent' })
  const m = await ownAgents({ agents: [definition('architect'), sub('developer'), sub('reviewer')] })
  const id = await m.open('architect')
  const turns = story.map(({ agent, input, answer }) =>
    call('Task', {
      subagent_type: agent,
      prompt: `${JSON.stringify(input)}\n\n${script({ text: JSON.stringify(answer) })}`,
    }),
  )
  await m.say(id, script(...turns, { text: 'Done.' }))
  await m.until('agent.completed', story.length + 1)
  return m.events()
}

async function toldByScript(): Promise<readonly AgentEvent[]> {
  const { bed, run } = await openScriptBed(({ prompt, taken }) => {
    const turn = story.find(({ input }) => prompt.includes(JSON.stringify(input)))
    return Promise.resolve(taken?.()).then(() => JSON.stringify(turn?.answer))
  })
  const turns = story.map(
    ({ agent, input }) => `await agent(${JSON.stringify(input)}, { agent: '${agent}' })`,
  )
  const meta = { name: 'a', description: 'tells it', phases: [], writes: ['src/**'] }
  await run(scriptInput(turns.join('\n'), { meta }))
  return bed.events()
}

/** The facts of delegated work, without what is another one each time it is told: ids, times, and who gives work. */
function factsOf(events: readonly AgentEvent[]): unknown[] {
  const workers = ['developer', 'reviewer']
  const roles = new Map<string, string>()
  const role = (name: string) => roles.get(name) ?? (workers.includes(name) ? name : 'giver')
  const names = new Map<string, string>()
  return events.flatMap((event): unknown[] => {
    const { type, taskId } = event
    if (type === 'agent.message.created') {
      const { messageType, messageId, from, to, payload, replyTo, sequenceNumber } = event.payload
      if (messageType === undefined) return []
      for (const { agentId, agentType } of [from, to])
        roles.set(agentId, workers.includes(agentType) ? agentType : 'giver')
      names.set(messageId, `${messageType} ${sequenceNumber}`)
      const said = JSON.parse(
        JSON.stringify(payload).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => names.get(id) ?? id),
      ) as unknown
      const answers = replyTo === undefined ? null : names.get(replyTo)
      return [[type, messageType, sequenceNumber, role(from.agentId), role(to.agentId), said, answers]]
    }
    if (type === 'agent.task.assigned') {
      const { description, input } = event.payload
      return [[type, taskId, description, input]]
    }
    if (type === 'task.completed' || type === 'task.failed') {
      const { agentId: _, ...rest } = event.payload
      return [[type, taskId, rest]]
    }
    if (type === 'verifier.issue.found') return [[type, taskId, event.payload]]
    return type.startsWith('loop.round.') ? [[type, event.payload]] : []
  })
}

test('[MUS-367][MUS-366][COL-74] the same story gives the same facts, messages, findings and rounds, whether Task tells it or a script', async () => {
  const [byTask, byScript] = [factsOf(await toldByTask()), factsOf(await toldByScript())]
  expect(byScript).toEqual(byTask)
  const verdicts = byTask.filter((fact) => (fact as unknown[])[0] === 'loop.round.completed')
  expect(verdicts).toMatchObject([
    ['loop.round.completed', { round: 1, verdict: 'changes_requested' }],
    ['loop.round.completed', { round: 2, verdict: 'approved' }],
  ])
  // Five pieces of work: each given, acknowledged and reported on.
  expect(byTask.filter((fact) => (fact as unknown[])[0] === 'agent.message.created')).toHaveLength(15)
})
