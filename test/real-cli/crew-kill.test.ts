import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import type { EventOf, EventType } from '../../src/contract/event.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { crewClis } from '../support/crew-clis.ts'
import type { Part } from '../support/crew-model.ts'
import { shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

const said = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``, delayMs: 500 })
const task = (task_id: string) => ({
  task_id,
  title: `Add ${task_id}`,
  description: `${task_id}.mjs exports a number. SCRIPT=play`,
  scope: [`${task_id}.mjs`],
  acceptance_criteria: ['it is there'],
})
const developed = (name: string): Part => ({
  when: `"task_id": "${name}"`,
  steps: [
    {
      tools: [{ name: 'Write', input: { file_path: `${name}.mjs`, content: 'export const x = 1\n' } }],
      delayMs: 5000,
    },
    // Without a daemon no tool is let through, and it goes on to its answer.
    { tools: [shellCall('claude', 'node --test')], delayMs: 2000 },
    said({ status: 'completed', summary: `${name} is there.` }),
  ],
})
/** Whoever is meant first: a review names the tasks, too. */
const cast = (names: readonly string[], ...developers: readonly Part[]): readonly Part[] => [
  { when: '"review_id": "review-1"', steps: [said({ verdict: 'approved', summary: 'Good.', findings: [] })] },
  ...developers,
  { when: 'You are the architect', steps: [said({ summary: 'Some files.', tasks: names.map(task) })] },
]
const missing = clis.find(({ name }) => ['claude', 'codex'].includes(name) && !cliPath(name))

test('[MUS-275] Claude Code and Codex work on while the daemon is killed again and again, and the crew comes to its right end', async ({
  skip,
}) => {
  if (missing) return skip(missingCli(missing))
  const m = await crewClis(cast(['one', 'two'], developed('one'), developed('two')))
  const of = async <T extends EventType>(type: T) =>
    (await m.m.client.listEvents({ type, limit: 1000 })).events as EventOf<T>[]
  const { workflow_id, branch } = await m.crew('Add one and two.')
  // Before prompts are taken, then in the middle of turns, which go on and end while nobody is there.
  await eventually(
    () => of('session.launched'),
    (all) => all.length >= 1,
  )
  await m.m.restart('SIGKILL')
  await eventually(
    () => of('tool.call.completed'),
    (all) => all.filter(({ payload }) => payload.tool === 'Write').length === 2,
  )
  await m.m.restart('SIGKILL', () => sleep(6000))
  const flow = await eventually(() => m.m.client.getWorkflow({ id: workflow_id }), isToLand)
  expect(flow).toMatchObject({
    status: 'running',
    phase: 'land',
    report: {
      outcome: 'approved',
      tasks: [
        { task_id: 'one', state: 'completed', files: [{ path: 'one.mjs' }] },
        { task_id: 'two', state: 'completed', files: [{ path: 'two.mjs' }] },
      ],
    },
  })
  expect(m.git('ls-tree', '--name-only', branch)).toContain('one.mjs')
  const ended = (await of('result.summary')).filter(({ workflowId }) => workflowId === workflow_id)
  expect(ended).toHaveLength(1)
  const assigned = (await of('agent.task.assigned')).map(({ payload }) => payload.taskId)
  expect(assigned).toEqual(expect.arrayContaining(['one', 'two', 'review-1']))
  const numbers = (await of('agent.message.created')).flatMap(({ payload }) => payload.sequenceNumber ?? [])
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  await eventually(
    async () => m.m.processes(),
    (all) => all.length === 0,
  )
})

test('[MUS-247][MUS-275] what a developer asks when the daemon is killed is asked again, and the crew goes on with the answer', async ({
  skip,
}) => {
  if (missing) return skip(missingCli(missing))
  const steps = [
    { tools: [{ name: 'Write', input: { file_path: 'one.mjs', content: 'export const x = 1\n' } }] },
    { tools: [shellCall('claude', 'node one.mjs')] },
    said({ status: 'completed', summary: 'one is there.' }),
  ]
  const m = await crewClis(cast(['one'], { when: '"task_id": "one"', steps }))
  const { workflow_id } = await m.crew('Add one.')
  const asked = () => m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  await asked()
  await m.m.restart('SIGKILL')
  const { approvals } = await asked()
  expect(approvals).toMatchObject([{ subject: 'tool', action: 'Bash: node one.mjs' }])
  await m.m.client.decideApproval({ id: approvals[0]?.approval_id ?? '', verdict: 'allow' })
  const flow = await m.until(workflow_id, isToLand)
  expect(flow).toMatchObject({ status: 'running', report: { outcome: 'approved' } })
})
