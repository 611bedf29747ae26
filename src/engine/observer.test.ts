import { expect, test } from 'vitest'
import { daemon, ids, openEngine, sessionDrafts } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { Config } from '../contract/config.ts'
import type { AgentCli, ForeignSession } from '../ports/agent-cli.ts'
import { Observer } from './observer.ts'

const outside: ForeignSession = {
  cli: 'codex',
  foreignId: 'conversation-1',
  workingDir: '/work',
  pid: 7,
  status: 'idle',
  title: 'Fix  the\ttests',
}

/** An observer of a CLI that finds what the test says, by a clock that the test moves. */
async function observing() {
  const { engine } = await openEngine(tempFolder())
  const now = { ms: 10_000 }
  const found = { list: [outside] as ForeignSession[], looks: 0, isBroken: false }
  const marked = new Set<number>()
  const unreadable = new Set<number>()
  const ending = new Set<number>()
  const config = { value: Config.parse({}) }
  const codex = {
    name: 'codex',
    dialect: { line: () => [] },
    foreign: async () => {
      found.looks += 1
      if (found.isBroken) throw new Error('the folder cannot be read')
      return found.list
    },
  } as unknown as AgentCli
  const bugs: unknown[] = []
  const observer = new Observer({
    engine,
    ids,
    clis: { codex } as never,
    files: { read: async () => undefined, watch: () => {} },
    processes: {
      async variable(pid) {
        if (unreadable.has(pid)) throw new Error('no such process')
        return marked.has(pid) ? 'ses_other' : undefined
      },
      startedAt: async (pid) => (ending.has(pid) ? undefined : 1000),
    },
    config: () => config.value,
    clock: { now: () => now.ms, monotonic: () => now.ms, sleep: () => new Promise(() => {}) },
    env: { HOME: '/home/me' },
    onBug: (error) => bugs.push(error),
  })
  const open = () =>
    [...engine.sessions()].map(({ managed, lifecycle }) => [managed?.origin, managed?.task, lifecycle])
  const look = async () => {
    now.ms += 5000
    await observer.wanted()
    return open()
  }
  return { engine, observer, found, marked, unreadable, ending, config, now, look, open, bugs }
}

test('[MUS-240] one that is found is a session until it is gone, and the same one when it comes back', async () => {
  const o = await observing()
  expect(await o.look()).toEqual([['observed', 'Fix the tests', 'idle']])
  const [first] = [...o.engine.sessions()]
  o.found.list = [{ ...outside, status: 'busy' }]
  expect(await o.look()).toEqual([['observed', 'Fix the tests', 'running']])
  o.found.list = []
  expect(await o.look()).toEqual([])
  o.found.list = [outside]
  await o.look()
  expect([...o.engine.sessions()].map(({ sessionId }) => sessionId)).toEqual([first?.sessionId])
})

test('[MUS-240] what is ending is not taken for one from outside, though its mark is gone', async () => {
  const o = await observing()
  o.ending.add(7)
  expect(await o.look()).toEqual([])
  o.ending.clear()
  expect(await o.look()).toHaveLength(1)
})

test('[MUS-240] what carries our mark, or goes on with a conversation of ours, is not observed', async () => {
  const o = await observing()
  o.marked.add(7)
  expect(await o.look()).toEqual([])
  o.marked.clear()
  const ours = {
    ...sessionDrafts().started(),
    payload: { origin: 'managed', cli: 'codex', foreignId: 'conversation-1' },
  }
  await o.engine.propose({ items: [ours], by: daemon })
  expect((await o.look()).map(([origin]) => origin)).toEqual(['managed'])
})

test('[MUS-240] nobody looks again within a moment, and who looks at once looks once', async () => {
  const o = await observing()
  await Promise.all([o.look(), o.observer.wanted(), o.observer.wanted()])
  expect(o.found.looks).toBe(1)
  o.now.ms += 500
  await o.observer.wanted()
  expect(o.found.looks).toBe(1)
  await o.look()
  expect(o.found.looks).toBe(2)
})

test('[MUS-240] files that cannot be read end nothing; a setting that turns it off does', async () => {
  const o = await observing()
  await o.look()
  o.found.isBroken = true
  expect(await o.look()).toHaveLength(1)
  expect(o.bugs).toHaveLength(1)
  o.found.isBroken = false
  o.config.value = Config.parse({ sessions: { observe: false } })
  expect(await o.look()).toEqual([])
})

test('[MUS-240] one that is being taken over is left alone by the look that misses its program', async () => {
  const o = await observing()
  await o.look()
  const [one] = [...o.engine.sessions()]
  o.found.list = []
  if (!one) return expect.unreachable()
  await o.observer.without(one.sessionId, async () => {
    expect(await o.look()).toHaveLength(1)
  })
  expect(await o.look()).toEqual([])
})

test('[MUS-283] one that cannot be taken up hides no other, and one that is known does not end for it', async () => {
  const o = await observing()
  const other = { ...outside, foreignId: 'conversation-2', pid: 8, title: 'Other' }
  o.found.list = [outside, other]
  expect(await o.look()).toHaveLength(2)
  const third = { ...outside, foreignId: 'conversation-3', pid: 9, title: 'Third' }
  o.found.list = [outside, other, third]
  o.unreadable.add(7)
  expect(await o.look()).toEqual([
    ['observed', 'Fix the tests', 'idle'],
    ['observed', 'Other', 'idle'],
    ['observed', 'Third', 'idle'],
  ])
  expect(o.bugs.map(String)).toEqual(['Error: no such process'])
})
