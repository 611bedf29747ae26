import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { spawnDaemon, startDaemonProcess } from '../support/daemon-process.ts'
import { sessionDrafts } from '../support/temp-engine.ts'
import { tempFolder } from '../support/temp-journal.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65534

/** A file system of a few megabytes of its own, so that it can really be full. */
function smallDisk(megabytes: number): string {
  const dir = tempFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', dir])
  onTestFinished(() => {
    execFileSync('umount', ['-l', dir])
  })
  return dir
}

test.skipIf(!isRoot)(
  '[MUS-37] a full disk: new work is refused with the cure, endings are written, and it goes on once there is space',
  async () => {
    const home = smallDisk(24)
    const config = join(tempFolder(), 'config.yaml')
    writeFileSync(config, 'journal:\n  reserve_bytes: 2097152\n')
    const daemon = await startDaemonProcess(home, { env: { MUSTER_CONFIG: config } })
    const session = sessionDrafts()
    const send = async (...events: unknown[]) => (await daemon.client.appendEvents({ events })).results
    await send(session.started())

    const { bavail, bsize } = statfsSync(home)
    writeFileSync(join(home, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - 700_000)))
    let acknowledged = 1
    let refusal: unknown
    for (let i = 0; i < 2000 && !refusal; i++) {
      try {
        const results = await send(session.note(`${i} ${'x'.repeat(3000)}`), session.note('y'.repeat(3000)))
        refusal = results.find((result) => result.status === 'rejected')
        acknowledged += results.filter((result) => result.status === 'appended').length
      } catch (error) {
        refusal = error
      }
    }
    expect(refusal).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/disk is (nearly )?full.*free some space/),
    })
    const [note] = await send(session.note('still refused'))
    expect(note).toMatchObject({ status: 'rejected', code: 'unavailable' })
    const [ended] = await send(session.completed())
    expect(ended).toMatchObject({ status: 'appended' })
    acknowledged += 1

    rmSync(join(home, 'ballast'))
    const next = sessionDrafts()
    for (;;) {
      // Until the index has caught up too, it is not known whether such a session ended before.
      const [result] = await send(next.started()).catch((error: { code: string }) => [{ status: error.code }])
      if (result?.status === 'appended') break
      await sleep(200)
    }
    acknowledged += 1
    let seen = 0
    for (;;) {
      const { events } = await daemon.client.listEvents({ after: seen, limit: 1000 })
      if (events.length === 0) break
      seen = events.at(-1)?.seq ?? seen
    }
    expect(seen).toBe(acknowledged)
    await daemon.kill('SIGTERM')
  },
)

test.skipIf(!isRoot)(
  '[MUS-120] a state folder that another user may not write: the daemon says so and what to do',
  async () => {
    const home = tempFolder()
    chmodSync(home, 0o555)
    const child = spawnDaemon(home, { uid: nobody })
    let log = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(5)
    expect(log).toMatch(/cannot be written by this user.*chown.*MUSTER_HOME/)
    expect(readdirSync(home)).toEqual([])
  },
)

test.skipIf(!isRoot)('[MUS-216] the daemon works for a user who is not root', async () => {
  const parent = tempFolder()
  chmodSync(parent, 0o755)
  const home = join(parent, 'home')
  mkdirSync(home, { mode: 0o700 })
  chownSync(home, nobody, nobody)
  const daemon = await startDaemonProcess(home, { uid: nobody })
  const session = sessionDrafts()
  const { results } = await daemon.client.appendEvents({ events: [session.started(), session.completed()] })
  expect(results.map((result) => result.status)).toEqual(['appended', 'appended'])
  await daemon.kill('SIGTERM')
  expect(existsSync(join(home, 'journal', 'segments'))).toBe(true)
})
