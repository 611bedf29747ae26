import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { crewDaemon } from '../support/crew-daemon.ts'

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

test('[MUS-279] a script of a project runs its agents side by side, asks first, and goes on after a kill', async () => {
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
