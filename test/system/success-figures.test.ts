import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { smProgram } from '../support/programs.ts'
import { sessionDaemon } from '../support/session-daemon.ts'
import { slowdown } from '../support/slowdown.ts'
import { type SpawnFigures, spawnCampaign } from '../support/spawn-campaign.ts'
import { tempFolder } from '../support/temp-journal.ts'

let figures: Promise<SpawnFigures> | undefined
/** The short form of the campaign `spawn`, run once for all that is asked of it. */
const measured = () =>
  (figures ??= spawnCampaign({ home: tempFolder('muster-spawns-'), spawns: 20, seed: 7 }))

test('[SM-124] visibility: every spawned session is listed when spawn answers', async () => {
  expect((await measured()).unlisted).toBe(0)
})

test('[SM-126] reliability: fewer than 1 % of spawns fail', async () => {
  const { failures, spawns } = await measured()
  expect(failures).toEqual([])
  expect(spawns).toBe(20)
})

test('[SM-127] performance: spawn answers in under 2 seconds', async () => {
  const { medianMs } = await measured()
  expect(medianMs).toBeLessThan(2000 * slowdown())
})

test('[SM-125] control: a parent monitors and kills what is below it, at any depth', async () => {
  const m = await sessionDaemon()
  const parent = await m.spawnShell()
  const asParent = m.as(parent.session_id).client
  let above = parent.session_id
  for (let depth = 1; depth <= 4; depth++) {
    const { session_id } = await m.spawnShell({ parent: above })
    expect(await asParent.getProgress({ id: session_id })).toMatchObject({ is_complete: false })
    expect((await asParent.getOutput({ id: session_id })).is_alive).toBe(true)
    above = session_id
  }
  const { killed } = await asParent.killSession({ id: above, force: true })
  expect(killed).toMatchObject([{ session_id: above, depth: 4, status: 'killed' }])
})

test('[SM-129] usability: a crew of children is followed to its end with two commands', async () => {
  const m = await sessionDaemon()
  const em = await m.spawnShell()
  const crew = [await m.spawnShell({ parent: em.session_id }), await m.spawnShell({ parent: em.session_id })]
  const { token } = m.as(em.session_id)
  const env = {
    PATH: process.env['PATH'],
    HOME: m.home,
    MUSTER_HOME: m.home,
    MUSTER_SESSION: em.id,
    MUSTER_TOKEN: token,
  }
  const commands: string[][] = []
  const sm = (...args: string[]) => {
    commands.push(args)
    return runProgram(process.execPath, [smProgram, ...args], { cwd: m.home, env })
  }
  const waited = sm('wait', ...crew.map(({ session_id }) => session_id))
  const [first, second] = crew
  await m.client.completeSession({ id: first?.id ?? '', message: 'PivotExtendedEvent implemented' })
  await m.client.completeSession({ id: second?.id ?? '', message: 'no keys', status: 'error' })
  expect((await waited).code).toBe(1)
  const { stdout } = await sm('children')
  expect(stdout).toMatch(
    /\| completed \| just now \| "PivotExtendedEvent implemented"\n.*\| error +\| just now \| "no keys"\n/,
  )
  expect(commands.length).toBeLessThan(5)
})
