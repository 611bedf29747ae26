import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

describe.each(clis)('$name $version', (cli) => {
  const { name, version } = cli
  const open = async ({ skip }: TestContext) => {
    if (cliPath(name, version) === undefined) skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    /** Interrupts once its work shows, which may be a little after the prompt was taken. */
    const interrupt = (id: string) =>
      eventually(
        () => m.sm('interrupt', id),
        ({ code }) => code !== 4,
      )
    /** Lists of events may be a little behind the journal. */
    const events = async (id: string, type: string, least: number) => {
      const list = await eventually(
        () => m.client.listEvents({ session: id, type }),
        (found) => found.events.length >= least,
      )
      return list.events
    }
    const ends = async (id: string, least: number) =>
      (await events(id, 'agent.completed,agent.failed,agent.cancelled', least)).map(({ type }) => type)
    const proofs = async (id: string) =>
      (await events(id, 'effect.done', 1))
        .map(({ payload }) => payload as { effect: string; receipt: { proof?: string; error?: string } })
        .filter(({ effect }) => effect === 'interrupt')
        .map(({ receipt }) => receipt.proof ?? receipt.error)
    return { m, interrupt, ends, proofs }
  }

  test('[MUS-335] sm interrupt ends an answer that is being written and a command that runs, each with proof', async (context) => {
    const { m, interrupt, ends, proofs } = await open(context)
    const interrupted = { code: 0, text: expect.stringMatching(/^Interrupted /) }
    const call = shellCall(name, 'touch begun.txt; tail -f begun.txt; touch late.txt')
    const command = scripted([{ text: 'Now.', tools: [call] }, { text: 'Over.' }], 'Work.')
    const { session_id: id } = await m.spawn(command, { permission_mode: 'bypass' })
    await eventually(
      async () => existsSync(join(m.own.cwd, 'begun.txt')),
      (isThere) => isThere,
    )
    expect(await interrupt(id)).toMatchObject(interrupted)
    expect(await m.client.getSession({ id })).toMatchObject({ status: 'idle' })
    expect(await ends(id, 1)).toEqual(['agent.cancelled'])
    expect(existsSync(join(m.own.cwd, 'late.txt'))).toBe(false)
    // A screen may show the work for a moment longer than its record does.
    const again = await eventually(
      () => m.sm('interrupt', id),
      ({ code }) => code === 4,
    )
    expect(again.text).toContain('nothing to interrupt')

    const answer = scripted([{ text: `Begun.\n\n${'and on\n\n'.repeat(120)}`, chunkMs: 5000 }], 'Talk.')
    const before = m.model.requests().length
    await m.client.sendMessage({ id, text: answer })
    await eventually(
      async () => m.model.requests().length,
      (count) => count > before,
    )
    expect(await interrupt(id)).toMatchObject(interrupted)
    expect(await m.client.getSession({ id })).toMatchObject({ status: 'idle' })
    expect(await ends(id, 2)).toEqual(['agent.cancelled', 'agent.cancelled'])
    // Each interrupt tells its end, those that found nothing at work too.
    await eventually(
      () => proofs(id),
      (all) => all.filter((proof) => /^(hook|transcript|screen)$/.test(proof ?? '')).length >= 2,
    )
  })
})
