import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentFiles, watchAgents } from './agent-files.ts'

let base: string
let dir: string
let stop: AbortController
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'muster-watch-'))
  dir = join(base, 'repo/.muster/agents')
  stop = new AbortController()
})
afterEach(() => {
  stop.abort()
  rmSync(base, { recursive: true, force: true })
})

const names = () => {
  try {
    return readdirSync(dir).toSorted()
  } catch {
    return []
  }
}
/** Watches, and lets a test wait until a callback finds the folder in a given state. */
const watching = (dirs: string[] = [dir]) => {
  let calls = 0
  let look = () => {}
  watchAgents(
    dirs,
    () => {
      calls += 1
      look()
    },
    stop.signal,
  )
  return {
    calls: () => calls,
    after: (act: () => void, isDone: () => boolean) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (isDone()) resolve()
        }
        act()
      }),
  }
}
const has =
  (...expected: string[]) =>
  () =>
    JSON.stringify(names()) === JSON.stringify(expected)

test('[RUN-2] a new, a changed and a removed file are each told', async () => {
  mkdirSync(dir, { recursive: true })
  const watched = watching()
  await watched.after(() => writeFileSync(join(dir, 'a.md'), '1'), has('a.md'))
  const before = watched.calls()
  await watched.after(
    () => writeFileSync(join(dir, 'a.md'), '2'),
    () => watched.calls() > before,
  )
  await watched.after(() => rmSync(join(dir, 'a.md')), has())
})

test('[RUN-2] an editor that saves by renaming is noticed', async () => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'a.md'), 'old')
  const watched = watching()
  for (const round of [1, 2, 3]) {
    const before = watched.calls()
    await watched.after(
      () => {
        writeFileSync(join(dir, 'a.md.tmp'), `new ${round}`)
        renameSync(join(dir, 'a.md.tmp'), join(dir, 'a.md'))
      },
      () => watched.calls() > before,
    )
  }
})

test('[RUN-2] a folder that appears later is watched from then on', async () => {
  const watched = watching()
  await watched.after(() => {
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'a.md'), '')
  }, has('a.md'))
  await watched.after(() => writeFileSync(join(dir, 'b.md'), ''), has('a.md', 'b.md'))
})

test('[RUN-2] a folder that appears step by step is watched from then on', async () => {
  const watched = watching()
  mkdirSync(join(base, 'repo'))
  mkdirSync(join(base, 'repo/.muster'))
  await watched.after(
    () => mkdirSync(dir),
    () => watched.calls() > 0,
  )
  await watched.after(() => writeFileSync(join(dir, 'a.md'), ''), has('a.md'))
})

test('[RUN-2] a folder that is replaced by another of the same name stays watched', async () => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'a.md'), '')
  const watched = watching()
  await watched.after(() => {
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    writeFileSync(join(dir, 'b.md'), '')
  }, has('b.md'))
  await watched.after(() => writeFileSync(join(dir, 'c.md'), ''), has('b.md', 'c.md'))
  mkdirSync(join(base, 'other'))
  await watched.after(() => {
    renameSync(dir, join(base, 'away'))
    renameSync(join(base, 'other'), dir)
  }, has())
  await watched.after(() => writeFileSync(join(dir, 'd.md'), ''), has('d.md'))
})

test('[RUN-2] a folder whose parent is replaced stays watched', async () => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'a.md'), '')
  mkdirSync(join(base, 'other/agents'), { recursive: true })
  const watched = watching()
  await watched.after(() => {
    renameSync(join(base, 'repo/.muster'), join(base, 'away'))
    renameSync(join(base, 'other'), join(base, 'repo/.muster'))
  }, has())
  await watched.after(() => writeFileSync(join(dir, 'b.md'), ''), has('b.md'))
})

test('[RUN-2] many changes at once are one callback', async () => {
  mkdirSync(dir, { recursive: true })
  const watched = watching()
  const files = Array.from({ length: 20 }, (_, index) => `f${index + 10}.md`)
  await watched.after(
    () => {
      for (const file of files) writeFileSync(join(dir, file), '')
    },
    has(...files),
  )
  // Callbacks that were still due for the first change come before the witness hears of the second.
  const witness = watching()
  await witness.after(() => rmSync(join(dir, 'f10.md')), has(...files.slice(1)))
  expect(watched.calls()).toBeLessThanOrEqual(2)
})

test('[RUN-2] files of no concern are told to nobody', async () => {
  mkdirSync(dir, { recursive: true })
  const watched = watching()
  const witness = watching([join(base, 'repo/.muster')])
  await witness.after(
    () => {
      writeFileSync(join(dir, '.a.swp'), '')
      writeFileSync(join(base, 'repo/.muster/noise.md'), '')
    },
    () => true,
  )
  expect(watched.calls()).toBe(0)
})

test('[MUS-85] after the signal nothing is told any more', async () => {
  mkdirSync(dir, { recursive: true })
  const first = watching()
  stop.abort()
  stop = new AbortController()
  const second = watching()
  await second.after(() => writeFileSync(join(dir, 'a.md'), ''), has('a.md'))
  expect(first.calls()).toBe(0)
  const aborted = new AbortController()
  aborted.abort()
  watchAgents([dir], () => expect.unreachable(), aborted.signal)
  await second.after(() => writeFileSync(join(dir, 'b.md'), ''), has('a.md', 'b.md'))
})

test('[RUN-2] a file added to a project while it is watched is an agent at the next load', async () => {
  const definitions = agentFiles({ shippedDir: join(base, 'shipped'), userDir: join(base, 'user') })
  const project = { root: join(base, 'repo'), trusts: () => true }
  const load = async () => (await definitions.load(project, stop.signal)).agents.map(({ name }) => name)
  const loaded = new Promise<void>((resolve) => {
    const reload = async () => {
      if ((await load()).includes('tester')) resolve()
    }
    definitions.watch(project, () => void reload(), stop.signal)
  })
  expect(await load()).toEqual([])
  mkdirSync(join(base, 'repo/agents'), { recursive: true })
  writeFileSync(join(base, 'repo/agents/tester.md'), '---\nname: Tester\n---\nTest.\n')
  await loaded
})
