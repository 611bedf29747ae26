import { constants, readFileSync, rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import { batchOf, openJournal, tempFolder } from '../../../test/support/temp-journal.ts'
import { Config } from '../../contract/config.ts'
import { systemFileOps } from './file-ops.ts'
import type { FsyncPolicy } from './writer.ts'

/** A journal whose writes are counted, each with how it reaches the disk, on a clock that stands still. */
async function counted(fsync: FsyncPolicy) {
  const { group_commit_ms: groupMs, group_commit_events: groupEvents } = Config.parse({}).journal
  const clock = manualClock()
  const writes: { isDurable: boolean }[] = []
  const ops = {
    ...systemFileOps,
    write: (fd: number, bytes: Uint8Array, position: number) => {
      const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0'
      writes.push({ isDurable: (Number.parseInt(flags, 8) & constants.O_DSYNC) !== 0 })
      return systemFileOps.write(fd, bytes, position)
    },
  }
  const { journal } = await openJournal(tempFolder(), { clock, ops, fsync, groupMs, groupEvents })
  const append = (events: number) => journal.append(batchOf(journal, Array(events).fill('x')))
  return { journal, clock, writes, append }
}

/** Long enough for a write that would happen to have happened. */
const settled = async (rounds = 50) => {
  for (let i = 0; i < rounds; i++) await turn()
}

test('[MUS-29] by default a lone batch goes at once, others at most every 5 ms together, and 1,000 events do not wait', async () => {
  const { journal, clock, writes, append } = await counted(Config.parse({}).journal.fsync)
  await append(1)
  expect(writes).toEqual([{ isDurable: true }])
  const waiting = Promise.all(Array.from({ length: 20 }, () => append(1)))
  await settled()
  clock.advance(4)
  await settled()
  expect(writes).toHaveLength(1)
  expect(journal.watermark()).toBe(1)
  clock.advance(1)
  await waiting
  expect(writes).toEqual([{ isDurable: true }, { isDurable: true }])
  await append(1000)
  expect(writes).toHaveLength(3)
  await journal.close()
})

test('[MUS-29] always makes each batch durable by itself, never leaves it to the system', async () => {
  for (const [fsync, isDurable] of [
    ['always', true],
    ['never', false],
  ] as const) {
    const { journal, writes, append } = await counted(fsync)
    await Promise.all(Array.from({ length: 5 }, () => append(1)))
    expect(writes.every((write) => write.isDurable === isDurable)).toBe(true)
    if (fsync === 'always') expect(writes).toHaveLength(5)
    await journal.close()
  }
})

test('[MUS-94] the health of a full journal is told without asking the disk', async () => {
  const dir = tempFolder()
  const clock = manualClock()
  const { journal } = await openJournal(dir, { clock, reserveBytes: 2 ** 50 })
  rmSync(dir, { recursive: true })
  expect(journal.health()).toBe('full')
  clock.advance(60_000)
  expect(journal.health()).toBe('full')
  await settled()
  expect(journal.health()).toBe('full')
  await journal.close()
  expect(clock.sleepers()).toBe(0)
})
