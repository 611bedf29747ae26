import fc from 'fast-check'
import { expect, test } from 'vitest'
import { multiAgentSessions, agentSessions } from '/work/main/test/support/std-008-arbitraries.ts'
import { mutated } from '/work/main/test/support/std-008-mutations.ts'
import { seeded } from '/work/main/test/support/random.ts'
import { example, single } from '/work/main/test/support/std-008.ts'
import { validateSession } from './validate.ts'
import { readSession } from './read-session.ts'
import { AppError } from '../../contract/errors.ts'
import { catalogue, DraftEnvelope, type AgentEvent, type EventType } from '../../contract/event.ts'
import { derivedIds } from './derived-ids.ts'
import { eventsFromSession } from './import/events-from-session.ts'
import { sessionFromEvents } from './export/session-from-events.ts'
import { eventStreams } from '/work/main/test/support/events.ts'
test('valid', () => {
  fc.assert(fc.property(fc.oneof(multiAgentSessions, agentSessions), (s) => {
    expect(validateSession(s).errors).toEqual([])
  }), {numRuns: 300})
})
test('no repairs needed', () => {
  fc.assert(fc.property(fc.oneof(multiAgentSessions, agentSessions), (s) => {
    const r = readSession(s)
    expect(r.session).toEqual(s)
    expect(r.repairs).toEqual([])
  }), {numRuns: 300})
})
test('round trip', () => {
  fc.assert(fc.property(fc.oneof(multiAgentSessions, agentSessions), (s) => {
    const ids = derivedIds('seed', 1000)
    const drafts = eventsFromSession(s, ids)
    for (const d of drafts) { const {type, payload, ...rest} = d; DraftEnvelope.parse(d); catalogue[type as EventType].payload.parse(payload) }
    const events = JSON.parse(JSON.stringify(drafts)) as AgentEvent[]
    const out = sessionFromEvents(events, {sequence: 1})
    expect(out.document).toEqual(s)
  }), {numRuns: 500})
})
test('mutations', () => {
  const random = seeded(7)
  const docs = [example(), single(), ...fc.sample(multiAgentSessions, {numRuns: 30, seed: 5}), ...fc.sample(agentSessions, {numRuns: 10, seed: 6})]
  let refused = 0
  const whys: Record<string, number> = {}
  for (let i = 0; i < 4000; i++) {
    const doc = mutated(docs[i % docs.length], random)
    try {
      const r = readSession(doc)
      if (validateSession(r.session).errors.length) throw new Error('not valid')
      const again = readSession(JSON.parse(JSON.stringify(r.session)))
      expect(again.repairs).toEqual([])
    } catch (e) {
      if (!(e instanceof AppError)) { console.log(i, JSON.stringify(doc).slice(0,300)); throw e }
      refused++
      whys[(e as Error).message.slice(0,150)] = (whys[(e as Error).message.slice(0,150)] ?? 0) + 1
    }
  }
  console.log('refused', refused, whys)
})
test('streams', () => {
  fc.assert(fc.property(eventStreams(60), (events) => {
    try {
    const out = sessionFromEvents(events, {sequence: 1})
    const v = validateSession(out.document, {filename: out.filename})
    expect(v.errors).toEqual([])
    } catch (e) { if (!(e instanceof AppError && e.code === 'not_found')) throw e }
  }), {numRuns: 500})
})
