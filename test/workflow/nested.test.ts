import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { crewProject } from '../support/crew-project.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

const script = `
export const meta = { name: 'nothing', description: 'Does nothing', phases: [] }
export default async function () {}
`

/** A daemon, a project, and what sessions of it ask for by their own tokens. */
async function nested(limits: Record<string, number> = {}) {
  const m = await standInClaude({ limits })
  const repo = join(m.home, 'project')
  const git = crewProject(repo)
  writeFileSync(join(repo, 'nothing.ts'), script)
  const startScript = (client: Client) =>
    client.startScript({ script: './nothing.ts', project_root: repo, cli: 'own', limits: {} })
  const ways: Record<string, (client: Client) => Promise<unknown>> = {
    crew: (client) => client.startCrew({ request: 'x', project_root: repo, crew: 'solo', cli: 'claude' }),
    script: startScript,
  }
  const world = async () => ({
    workflows: (await m.client.listWorkflows({})).workflows.map(({ workflow_id }) => workflow_id),
    sessions: (await m.events('session.started')).map(({ sessionId }) => sessionId),
    branches: git('branch', '--list').trim(),
  })
  return {
    m,
    startScript,
    as: (id: string) => m.m.as(id).client,
    /** A workflow is refused as a spawn is, in its words, and leaves nothing. */
    async refusesLikeSpawn(id: string, words: string) {
      const client = m.m.as(id).client
      const spawned = await refusal(client.spawnSession({ agent_type: 'shell', prompt: '' }))
      expect(spawned).toEqual({ code: 'limited', message: expect.stringContaining(words) })
      const before = await world()
      const told = (await m.events('limit.refused')).length
      for (const [name, start] of Object.entries(ways))
        expect(await refusal(start(client)), name).toEqual(spawned)
      expect(await world()).toEqual(before)
      await eventually(
        () => m.events('limit.refused'),
        (all) => all.length === told + Object.keys(ways).length,
      )
    },
  }
}

async function refusal(call: Promise<unknown>): Promise<Pick<AppError, 'code' | 'message'>> {
  const error = await call.then(
    () => expect.fail('it was not refused'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw error
  return { code: error.code, message: error.message }
}

test('[SM-116] [MUS-155] [MUS-285] a workflow below a session keeps to the limits of a spawn, and one that is refused leaves nothing', async () => {
  const n = await nested({ max_depth: 2, max_children: 1, max_descendants: 2 })
  const top = await n.m.m.spawnShell()
  const first = await n.startScript(n.as(top.session_id))
  await n.refusesLikeSpawn(top.session_id, 'limits.max_children')
  // Whoever approved it approved one run: another is a person's to begin.
  const fork = n.as(top.session_id).forkWorkflow({ id: first.workflow_id })
  await expect(fork).rejects.toMatchObject({ code: 'denied' })
  const end = async ({ workflow_id, session_id }: { workflow_id: string; session_id: string }) => {
    await n.as(top.session_id).cancelWorkflow({ id: workflow_id })
    await eventually(
      () => n.m.client.getSession({ id: session_id }),
      ({ status }) => status === 'cancelled',
    )
  }
  await end(first)
  await end(await n.startScript(n.as(top.session_id)))
  await n.refusesLikeSpawn(top.session_id, 'limits.max_descendants')

  const above = await n.m.m.spawnShell()
  const below = (id: string) => n.as(id).spawnSession({ agent_type: 'shell', prompt: '' })
  const deep = await below((await below(above.session_id)).session_id)
  await n.refusesLikeSpawn(deep.session_id, 'limits.max_depth')
})

test('[SM-116] a session whose budget is used up has no workflow go on in its place', async () => {
  const n = await nested()
  const one = await n.m.spawn({ budget: { tokens: 100 } })
  await n.m.turn(one, { prompt: 'do it', tokens: 130, isOpen: true }).catch(() => {})
  await eventually(
    () => n.m.events('budget.exceeded'),
    (all) => all.length === 1,
  )
  await n.refusesLikeSpawn(one.session_id, 'is used up')
})
