import fc from 'fast-check'
import { expect, test } from 'vitest'
import { derivedIds, derivedUuid } from './derived-ids.ts'
import { EventId, RunId, SessionId, SpanId, TraceId } from './ids.ts'

test('[LOG-126] ids are well formed and the same for the same seed and key', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.double(), (seed, key, atMs) => {
      const ids = derivedIds(seed, atMs)
      const made = [ids.session, ids.trace, ids.run(key), ids.span(key), ids.event(key)]
      const schemas = [SessionId, TraceId, RunId, SpanId, EventId]
      for (const [i, schema] of schemas.entries()) expect(schema.safeParse(made[i]).success).toBe(true)
      const again = derivedIds(seed, atMs)
      expect([again.session, again.trace, again.run(key), again.span(key), again.event(key)]).toEqual(made)
    }),
  )
})

test('[LOG-126] another seed or key gives another id, and later sessions sort later', () => {
  const ids = derivedIds('a', 1000)
  expect(ids.run('x')).not.toBe(ids.run('y'))
  expect(ids.run('x')).not.toBe(derivedIds('b', 1000).run('x'))
  const days = [0, 1, 1000, 1e12, 2e12].map((atMs) => derivedIds('a', atMs).session)
  expect(days.toSorted()).toEqual(days)
})

test('[LOG-31] a message id made from a text is a UUID of version 4', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(derivedUuid(text)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
      expect(derivedUuid(text)).toBe(derivedUuid(text))
    }),
  )
})
