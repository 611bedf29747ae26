import { expect, test } from 'vitest'
import { openEngine, operator, sessionDrafts } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import type { Draft } from '../contract/event.ts'
import type { Index } from '../ports/index.ts'
import { endedSession } from './read-events.ts'

/** A session of the given facts that has ended and left memory, as the index finds it. */
async function ended(facts: (session: ReturnType<typeof sessionDrafts>) => readonly Draft[]) {
  const { engine, journal } = await openEngine(tempFolder())
  const session = sessionDrafts()
  const items = [session.started(), ...facts(session), session.completed()]
  for (let i = 0; i < items.length; i += 1000)
    await engine.propose({ items: items.slice(i, i + 1000), by: operator })
  const all = await journal.page(0, 10_000)
  const asked: number[] = []
  const ask = async (
    _: string,
    { types, after, limit }: { types: readonly string[]; after?: number; limit: number },
  ) => {
    const found = all.filter(({ seq, event }) => types.includes(event.type) && seq > (after ?? 0))
    const page = after === undefined ? found.toReversed().slice(0, limit) : found.slice(0, limit)
    asked.push(page.length)
    return page.map(({ seq }) => ({ seq }))
  }
  const state = await endedSession(session.sessionId, {
    journal,
    index: { ask, reached: async () => true } as unknown as Index,
  })
  await journal.close()
  return { state, asked }
}

test('[MUS-284] a session that left memory goes on with its last number, of which one row is read', async () => {
  const { state, asked } = await ended((session) => [session.note('a'), session.note('b')])
  expect(state).toMatchObject({ lifecycle: 'completed', milestones: 2 })
  expect(asked.at(-1)).toBe(1)
  expect((await ended(() => [])).state).not.toHaveProperty('milestones')
})

test('[MUS-12] a session whose facts fill more than one page is known by its end, too', async () => {
  const { state } = await ended((session) =>
    Array.from({ length: 1100 }, (_, i) => session.draft('session.updated', { task: `t${i}`, by: 'cli' })),
  )
  expect(state?.lifecycle).toBe('completed')
})
