import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { withoutWalls } from '../support/without-walls.ts'

const script = `
export const meta = { name: 'greet-all', description: 'Greets everybody', phases: ['greet', 'sum'], tools: ['Read'] }
export default async function ({ args, agent, parallel, phase, checkpoint }) {
  await phase('greet')
  const said = await parallel(args.names.map((name) => () => agent('Greet ' + name + '. SCRIPT=play')))
  await checkpoint({ said })
  await phase('sum')
  return { said }
}
`

test('[MUS-279][LOG-142][MUS-371] a script of a project runs its agents side by side, asks first, and goes on after a kill', async () => {
  const parts = ['Ada', 'Bob'].map((name) => ({
    when: `Greet ${name}`,
    steps: [
      {
        tools: [
          { name: 'Glob', input: { pattern: '*' } },
          { name: 'Read', input: { file_path: 'greet.mjs' } },
        ],
      },
      { text: `Hello, ${name}!`, delayMs: 300 },
    ],
  }))
  const m = await crewDaemon({ parts })
  writeFileSync(join(m.repo, 'greet-all.ts'), script)
  const begun = await m.client().startScript({
    script: './greet-all.ts',
    project_root: m.repo,
    args: { names: ['Ada', 'Bob'] },
    cli: 'own',
    limits: {},
  })
  const [ask] = (await m.until(begun.workflow_id, ({ approvals }) => approvals.length > 0)).approvals
  expect(ask).toMatchObject({ subject: 'workflow', action: expect.stringContaining('greet') })
  await m.kill()
  await m.until(begun.workflow_id, ({ status }) => status === 'running')
  await m.client().decideApproval({ id: begun.session_id, verdict: 'allow', scope: 'once' })
  const flow = await m.ended(begun.workflow_id)
  expect(flow).toMatchObject({
    status: 'completed',
    result: { said: ['Hello, Ada!', 'Hello, Bob!'] },
    agents: 2,
  })
  const { document } = await m.client().exportLog({ id: begun.session_id })
  expect(document).toMatchObject({
    task_title: 'Greets everybody',
    user_prompt: 'Greets everybody\n\n{"names":["Ada","Bob"]}',
  })
  const views = viewsOf(m.client())
  const told = await expectSameAgents(views, await m.client().getSession({ id: begun.session_id }))
  expect(told).toMatchObject({ agents: { length: 2 }, delegated: { length: 2 } })
  // Its agents may use what was approved and no more, whatever their role has.
  for (const [type, tool] of [
    ['tool.call.denied', 'Glob'],
    ['tool.call.completed', 'Read'],
  ] as const)
    expect((await m.events(begun.session_id, type)).map(({ payload }) => payload)).toMatchObject([
      { tool },
      { tool },
    ])
  const fork = await m.client().forkWorkflow({ id: begun.workflow_id })
  expect(await m.ended(fork.workflow_id)).toMatchObject({
    status: 'completed',
    result: flow.result,
    agents: 0,
  })
  await expect(
    m.client().startScript({ script: 'nothing', project_root: m.repo, args: null, cli: 'own', limits: {} }),
  ).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('audit, migrate, research'),
  })
})

const asking = `
export const meta = { name: 'ask-once', description: 'Asks once', phases: [] }
export default async ({ approve }) => ({ approved: (await approve('Continue?')).approved })
`

test('[MUS-292] without walls a script runs where a person agreed to that, for one run and what is left of it after a kill', async () => {
  const m = await crewDaemon()
  writeFileSync(join(m.repo, 'ask-once.mjs'), asking)
  const wish = { script: './ask-once.mjs', project_root: m.repo, args: null, cli: 'own', limits: {} }
  const done = async (begun: { workflow_id: string; session_id: string }) => {
    await m.until(begun.workflow_id, ({ approvals }) => approvals.length > 0)
    await m.client().decideApproval({ id: begun.session_id, verdict: 'allow', scope: 'once' })
    return m.ended(begun.workflow_id)
  }
  const walled = await m.client().startScript({ ...wish, approved: true })
  expect(await done(walled)).toMatchObject({ status: 'completed', result: { approved: true } })

  await m.kill(withoutWalls())
  const refused = { code: 'denied', message: expect.stringContaining('add --unsafe') }
  await expect(m.client().startScript({ ...wish, approved: true })).rejects.toMatchObject(refused)
  await expect(m.client().forkWorkflow({ id: walled.workflow_id })).rejects.toMatchObject(refused)
  const forked = await m.client().forkWorkflow({ id: walled.workflow_id, unsafe: true })
  expect(await m.ended(forked.workflow_id)).toMatchObject({ status: 'completed' })

  const begun = await m.client().startScript({ ...wish, approved: true, unsafe: true })
  await m.until(begun.workflow_id, ({ approvals }) => approvals.length > 0)
  await m.kill(withoutWalls())
  expect(await done(begun)).toMatchObject({ status: 'completed', result: { approved: true } })
  // That one run goes without walls says nothing of another.
  await expect(m.client().forkWorkflow({ id: begun.workflow_id })).rejects.toMatchObject(refused)
})

test('[MUS-292] a name that ships is the shipped script, whatever a project has under it', async () => {
  const m = await crewDaemon()
  const own =
    "export const meta = { name: 'research', description: 'Not the one', phases: [] }\nexport default async () => 1\n"
  for (const folder of ['workflows', '.muster/workflows']) {
    mkdirSync(join(m.repo, folder), { recursive: true })
    writeFileSync(join(m.repo, folder, 'research.mjs'), own)
  }
  const wish = { project_root: m.repo, args: { question: 'Is it good?' }, cli: 'own', limits: {} }
  const cardOf = async (script: string) => {
    const begun = await m.client().startScript({ ...wish, script })
    const flow = await m.until(begun.workflow_id, ({ approvals }) => approvals.length > 0)
    return flow.approvals[0]?.action
  }
  expect(await cardOf('research')).not.toContain('Not the one')
  expect(await cardOf('./workflows/research.mjs')).toContain('Not the one')
})
