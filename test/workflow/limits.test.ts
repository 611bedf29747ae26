import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../src/contract/event.ts'
import { tokenTotal } from '../../src/core/ledger/model-usage.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { eventually } from '../support/session-daemon.ts'

type World = Awaited<ReturnType<typeof crewDaemon>>

const said = (value: unknown) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``
const usage = { input: 90, output: 10 }
/** An agent that writes a file and then reads on and on, a hundred tokens each time. */
const reader = (file: string, { turns = 30, delayMs = 30 } = {}) => [
  { tools: [{ name: 'Write', input: { file_path: file, content: `${file}\n` } }], usage, delayMs },
  ...Array.from({ length: turns }, (_, i) => ({
    text: `Look ${i}.`,
    tools: [{ name: 'Read', input: { file_path: 'greet.mjs', offset: 1, limit: i + 1 } }],
    usage,
    delayMs,
  })),
  { text: said({ status: 'completed', summary: `${file} is there` }), usage },
]
const names = ['one', 'two', 'three', 'four']
const crewParts = [
  ...names.map((name) => ({ when: `"task_id": "${name}"`, steps: reader(`${name}.txt`) })),
  {
    when: 'Write four files',
    steps: [
      {
        text: said({
          summary: 'Four files, side by side.',
          tasks: names.map((task_id) => ({
            task_id,
            title: `Write ${task_id}`,
            description: `Write ${task_id}.txt SCRIPT=play`,
            scope: [`${task_id}.txt`],
            acceptance_criteria: ['it is there'],
          })),
        }),
        usage,
      },
    ],
  },
]

/** What the calls of a run came to, in the order in which they were written. */
async function calls(m: World, session: string) {
  const events: AgentEvent[] = []
  for (;;) {
    const more = await m.client().listEvents({ session, limit: 1000, after: events.at(-1)?.seq ?? 0 })
    if (more.events.length === 0) break
    events.push(...(more.events as AgentEvent[]))
  }
  return events
}

/** The calls that ended well after the limit was reached, by run; and how many agents were at work then. */
function beyond(events: readonly AgentEvent[], limit: number) {
  const atWork = new Set<string>()
  const after: Record<string, number> = {}
  let running = 0
  let used = 0
  for (const event of events) {
    if (event.type === 'agent.spawned' && event.parentRunId !== undefined) atWork.add(event.runId)
    if (event.type === 'agent.completed' || event.type === 'agent.failed' || event.type === 'agent.cancelled')
      atWork.delete(event.runId)
    if (event.type !== 'llm.request.completed') continue
    if (used >= limit) after[event.runId] = (after[event.runId] ?? 0) + 1
    else if (used + tokenTotal(event.payload.usage) >= limit) running = atWork.size
    used += tokenTotal(event.payload.usage)
  }
  return { used, running, after: Object.values(after) }
}

const of = (events: readonly AgentEvent[], type: string) => events.filter((event) => event.type === type)

/** Nothing is open, nobody works, and no call is made any more. */
async function isStill(m: World, session: string): Promise<AgentEvent[]> {
  const events = await eventually(
    () => calls(m, session),
    (all) => of(all, 'session.failed').length > 0,
  )
  const ends = ['llm.request.completed', 'llm.request.failed']
  expect(of(events, 'llm.request.started')).toHaveLength(
    events.filter(({ type }) => ends.includes(type)).length,
  )
  expect(of(events, 'workflow.failed')).toHaveLength(1)
  expect(of(events, 'workflow.finalized')).toEqual([])
  expect(of(events, 'session.failed')).toHaveLength(1)
  expect(of(events, 'budget.exceeded')).toHaveLength(1)
  expect(of(events, 'approval.requested')).toEqual([])
  return events
}

test('[MUS-280] [MUS-183] [OBS-20] a crew over its budget stops within one call of each who is at work, and keeps their work', async () => {
  const m = await crewDaemon({ parts: crewParts })
  const limit = 2000
  const { workflow_id, session_id } = await m.crew('Write four files. SCRIPT=play', {
    budget: { tokens: limit },
  })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/it used \d+ of 2000 tokens/),
  })
  await eventually(
    () => m.client().getSession({ id: session_id }),
    ({ status }) => status !== 'running',
  )
  const events = await isStill(m, session_id)
  const { used, running, after } = beyond(events, limit)
  expect(running).toBe(4)
  expect(after.length).toBeLessThanOrEqual(running)
  expect(Math.max(0, ...after)).toBeLessThanOrEqual(1)
  expect(used).toBeLessThanOrEqual(limit + running * 100)
  expect(of(events, 'budget.warning')).toHaveLength(1)
  // What is told at the end is what was used: also by those who were stopped.
  expect(flow).toMatchObject({ tokens: used, agents: 5 })
  // The run of the crew is the architect's.
  expect(of(events, 'agent.spawned')).toHaveLength(5)
  expect(flow.partial).toMatchObject({
    tasks: expect.arrayContaining(
      names.map((name) => ({
        task_id: name,
        branch: `muster/${workflow_id}.${name}`,
        files: [`${name}.txt`],
      })),
    ),
  })
  for (const name of names)
    expect(m.git('show', `muster/${workflow_id}.${name}:${name}.txt`)).toBe(`${name}.txt\n`)
  expect(m.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
  expect(m.git('status', '--porcelain')).toBe('')
})

const script = (body: string) => `
export const meta = { name: 'reads', description: 'Reads on and on', phases: ['read'] }
export default async function ({ args, agent, parallel, pipeline, phase }) {
  await phase('read')
  ${body}
}
`

const boundedAgent = `---
name: bounded
description: Reads little
kind: subagent
tools: [Read, Write]
policy: [Patch]
budget: { tokens: 300 }
---
You read.
`

async function scripted(
  body: string,
  limits: object,
  { isKilled = false, agent = '' }: { isKilled?: boolean; agent?: string } = {},
) {
  const parts = [
    { when: 'Be quick', steps: [{ text: 'Done at once.', usage }] },
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
      when: `Read as ${name}.`,
      steps: reader(`${name}.txt`, { turns: 30 }),
    })),
  ]
  const m = await crewDaemon({ parts: [...parts, ...crewParts] })
  if (agent !== '') {
    mkdirSync(join(m.repo, '.muster/agents'), { recursive: true })
    writeFileSync(join(m.repo, `.muster/agents/${agent}.md`), boundedAgent)
  }
  writeFileSync(join(m.repo, 'reads.ts'), script(body))
  const { workflow_id, session_id } = await m.client().startScript({
    script: './reads.ts',
    project_root: m.repo,
    args: null,
    cli: 'own',
    limits,
    approved: true,
  })
  if (isKilled) {
    await eventually(
      () => calls(m, session_id),
      (events) => of(events, 'llm.request.completed').length >= 5,
    )
    await m.kill()
  }
  return { m, session_id, flow: await m.ended(workflow_id) }
}

const tasks = `['a', 'b', 'c', 'd', 'e', 'f'].map((name) => () => agent('Read as ' + name + '. SCRIPT=play'))`

test.each([
  ['parallel', `return parallel(${tasks})`],
  ['pipeline', `return pipeline(${tasks}, (act) => act())`],
])(
  '[MUS-280] a script with %s over its tokens stops within one call of each, begins nobody else, and keeps answers',
  async (_name, act) => {
    const quick = `await agent('Be quick. SCRIPT=play')`
    const { m, session_id, flow } = await scripted(`${quick}; ${act}`, { concurrency: 3, tokens: 1500 })
    expect(flow).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/it used \d+ of 1500 tokens/),
      partial: { answers: { 'agent#1': 'Done at once.' } },
    })
    const events = await isStill(m, session_id)
    const { used, running, after } = beyond(events, 1500)
    expect(running).toBe(3)
    expect(after.length).toBeLessThanOrEqual(running)
    expect(Math.max(0, ...after)).toBeLessThanOrEqual(1)
    expect(flow).toMatchObject({ tokens: used, agents: 4 })
    expect(of(events, 'agent.spawned')).toHaveLength(5)
    // With as much again it goes on: what was done is not done again, and what was stopped is.
    const fork = await m.client().forkWorkflow({ id: flow.workflow_id })
    const again = await m.ended(fork.workflow_id)
    expect(again).toMatchObject({ status: 'failed', partial: { answers: { 'agent#1': 'Done at once.' } } })
    const more = await isStill(m, fork.session_id)
    expect(beyond(more, 1500).used).toBeLessThanOrEqual(1500 + 3 * 100)
    expect(JSON.stringify(of(more, 'agent.spawned'))).not.toContain('Be quick')
  },
)

test('[MUS-280] what was used before a kill counts after it', async () => {
  const { m, session_id, flow } = await scripted(
    `return parallel(${tasks})`,
    { concurrency: 3, tokens: 1500 },
    { isKilled: true },
  )
  expect(flow.status).toBe('failed')
  const events = await calls(m, session_id)
  expect(of(events, 'workflow.checkpoint.resumed')).toHaveLength(1)
  const { used, after } = beyond(events, 1500)
  expect(used).toBeGreaterThanOrEqual(1500)
  expect(after.length).toBeLessThanOrEqual(3)
  expect(Math.max(0, ...after)).toBeLessThanOrEqual(1)
  expect(of(events, 'budget.exceeded')).toHaveLength(1)
})

test('[MUS-280] [MUS-175] over its time a run stops, and says so once', async () => {
  const { m, session_id, flow } = await scripted(`return parallel(${tasks})`, {
    concurrency: 3,
    minutes: 0.01,
  })
  expect(flow).toMatchObject({ status: 'failed', detail: 'it took longer than 0.01 min and was stopped' })
  const [exceeded] = of(await isStill(m, session_id), 'budget.exceeded')
  expect(exceeded?.payload).toMatchObject({ budget: 'time', limit: 0.01 })
  const crew = await m.crew('Write four files. SCRIPT=play', { budget: { minutes: 0.01 } })
  expect(await m.ended(crew.workflow_id)).toMatchObject({
    status: 'failed',
    detail: 'it took longer than 0.01 min and was stopped',
  })
  await isStill(m, crew.session_id)
})

test('[MUS-280] the limit of one agent stops it alone: the others go on, and the run comes to its end', async () => {
  const bounded = `agent('Read as a. SCRIPT=play', { agent: 'bounded' }).catch((error) => error.message)`
  const other = `agent('Read as b. SCRIPT=play')`
  const { m, session_id, flow } = await scripted(
    `return parallel([() => ${bounded}, () => ${other}])`,
    { concurrency: 3 },
    { agent: 'bounded' },
  )
  expect(flow).toMatchObject({
    status: 'completed',
    result: [
      expect.stringMatching(/it used 300 tokens of the 300 that /),
      expect.stringContaining('b.txt is there'),
    ],
  })
  const events = await calls(m, session_id)
  const [exceeded, ...more] = of(events, 'budget.exceeded')
  expect(more).toEqual([])
  const ofBounded = events.filter(
    ({ runId, type }) => runId === exceeded?.runId && type === 'llm.request.completed',
  )
  expect(ofBounded).toHaveLength(3)
})

test('[MUS-330] money of a model without a price is no limit, and is refused as one before anything begins', async () => {
  const m = await crewDaemon({ parts: crewParts })
  writeFileSync(join(m.repo, 'reads.ts'), script('return 1'))
  const refused = { code: 'invalid', message: expect.stringContaining('limit the tokens instead') }
  await expect(m.crew('Write four files.', { budget: { usd: 5 } })).rejects.toMatchObject(refused)
  await expect(
    m.client().startScript({ script: './reads.ts', project_root: m.repo, cli: 'own', limits: { usd: 5 } }),
  ).rejects.toMatchObject(refused)
  expect(await m.client().listWorkflows({})).toEqual({ workflows: [] })
})
