import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { emptyEnvironment, runProgram } from '../cli/run-sm.ts'
import { clientFor } from '../support/daemon-process.ts'
import { flipBit } from '../support/damaged-journal.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { openEngine, operator, sessionDrafts } from '../support/temp-engine.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** A person whose journal has several segments, and whose daemon is stopped when the test ends. */
async function person(settings = '{}') {
  const env = emptyEnvironment({ NODE_NO_WARNINGS: '1' })
  const home = env['MUSTER_HOME'] as string
  mkdirSync(home, { mode: 0o700 })
  env['MUSTER_CONFIG'] = join(home, 'config.yaml')
  writeFileSync(env['MUSTER_CONFIG'], settings)
  const { engine, journal } = await openEngine(join(home, 'journal'), { journal: { segmentBytes: 6000 } })
  const saved: Promise<void>[] = []
  journal.onRotate(() => saved.push(journal.snapshot(engine.snapshot())))
  const session = sessionDrafts()
  await engine.propose({ items: [session.started()], by: operator })
  for (let i = 0; i < 40; i++) await engine.propose({ items: [session.note(`note ${i}`)], by: operator })
  await Promise.all(saved)
  await journal.snapshot(engine.snapshot())
  const acknowledged = journal.watermark()
  await journal.close()
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, ...args], { env })
  onTestFinished(async () => void (await sm('down')))
  const segments = () =>
    readdirSync(join(home, 'journal', 'segments'))
      .sort()
      .map((name) => join(home, 'journal', 'segments', name))
  const client = async () => {
    const { url } = JSON.parse((await sm('up', '--json')).stdout) as { url: string }
    return clientFor(url, readFileSync(join(home, 'operator.token'), 'utf8').trim())
  }
  return { sm, client, segments, acknowledged, session }
}

test('[MUS-299][MUS-301] a segment that is gone is told by up, doctor, health, an event, lists and followers; set aside, all is well', async () => {
  const { sm, client, segments } = await person()
  const [, , gone = '', next = ''] = segments()
  const [from, to] = [gone, next].map((path) => Number(/(\d{12})\.jsonl$/.exec(path)?.[1])) as [
    number,
    number,
  ]
  rmSync(gone)
  const up = await sm('up')
  expect(up).toMatchObject({ code: 0, stderr: expect.stringContaining(`${gone} is missing`) })
  const asked = await client()
  expect(await asked.health({})).toMatchObject({ journal: 'damaged', damage: [`${gone} is missing`] })
  const doctor = await sm('doctor')
  expect(doctor.code).toBe(1)
  expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toMatch(/its past is damaged.*--set-aside/)
  const types: string[] = []
  const missing: unknown[] = []
  for (let after = 0; ; ) {
    const { events, unreadable = [] } = await asked.listEvents({ after, limit: 1000 })
    if (events.length === 0) break
    types.push(...events.map(({ type }) => type))
    missing.push(...unreadable)
    after = events.at(-1)?.seq ?? after
  }
  expect(missing).toEqual([{ from, to: to - 1 }])
  expect(types).toContain('journal.damaged')
  await eventually(
    () => asked.listEvents({ type: 'event.parked', after: 0 }),
    (page) =>
      page.events.some(({ payload }) => JSON.stringify(payload).includes(`events ${from} to ${to - 1}`)),
  )
  await sm('down')
  const verified = await sm('journal', 'verify')
  expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining(gone) })
  const cured = await sm('journal', 'verify', '--set-aside')
  expect(cured).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${to - from} events recorded as lost`),
  })
  expect(await (await client()).health({})).toMatchObject({ journal: 'ok' })
})

test('[MUS-299] a bit that changed in an old segment is noticed while the daemon runs, and told as at a start', async () => {
  const { sm, client, segments } = await person('journal: { reread_ms: 20 }')
  const [, old = ''] = segments()
  flipBit(old, readFileSync(old).indexOf('"message":"') + 12, 1)
  const asked = await client()
  const { events } = await eventually(
    () => asked.listEvents({ type: 'journal.damaged', limit: 10 }),
    (page) => page.events.length > 0,
  )
  expect(events).toMatchObject([{ payload: { count: 1, files: [{ file: basename(old) }] } }])
  const { journal, damage } = await asked.health({})
  expect([journal, damage]).toEqual(['damaged', [expect.stringContaining(`${old} is damaged in line`)]])
  expect((await sm('doctor')).stdout).toContain('its past is damaged')
})

test('[MUS-300][MUS-299] a last segment that is gone stops the daemon with what to do; once the loss is accepted, its numbers are not given again', async () => {
  const { sm, client, segments, acknowledged, session } = await person()
  rmSync(segments().at(-1) as string)
  const up = await sm('up')
  expect(up.code).not.toBe(0)
  expect(up.stderr).toMatch(new RegExp(`event ${acknowledged} was already acknowledged.*--set-aside`))
  const doctor = await sm('doctor')
  expect(doctor.code).toBe(1)
  expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain(`event ${acknowledged} was already acknowledged`)
  expect((await sm('journal', 'verify', '--set-aside')).code).toBe(0)
  const { results } = await (await client()).appendEvents({ events: [session.note('next')] })
  expect(results[0]).toMatchObject({ status: 'appended' })
  expect((results[0] as { seq: number }).seq).toBeGreaterThan(acknowledged)
})

test('[MUS-300] what the index has seen is known too: a journal that was replaced by an older copy is not written to', async () => {
  const { sm, client, segments, acknowledged, session } = await person()
  const [last = ''] = segments().slice(-1)
  const older = readFileSync(last)
  const asked = await client()
  await asked.appendEvents({ events: [session.note('told')] })
  const { seq } = await asked.health({})
  await eventually(
    () => asked.listEvents({ type: 'progress.checkpoint', limit: 1 }),
    ({ events }) => (events[0]?.seq ?? 0) > acknowledged,
  )
  await sm('down')
  for (const path of segments().filter((one) => one > last)) rmSync(path)
  writeFileSync(last, older)
  rmSync(join(last, '..', '..', 'snapshots'), { recursive: true })
  const up = await sm('up')
  expect(up.code).not.toBe(0)
  expect(up.stderr).toMatch(/was already acknowledged/)
  expect(seq).toBeGreaterThan(acknowledged)
})

test.skipIf(process.getuid?.() !== 0)(
  '[MUS-37] sm up on a disk that is full says so and what to do',
  async () => {
    const disk = tempFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', disk])
    onTestFinished(() => {
      execFileSync('umount', ['-l', disk])
    })
    const home = join(disk, 'state')
    mkdirSync(home, { mode: 0o700 })
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize))
    const env = { ...emptyEnvironment({ NODE_NO_WARNINGS: '1' }), MUSTER_HOME: home }
    const up = await runProgram(process.execPath, [smProgram, 'up'], { env })
    expect(up.code).not.toBe(0)
    expect(up.stderr).toMatch(/disk.*is full.*free some space/s)
  },
)
