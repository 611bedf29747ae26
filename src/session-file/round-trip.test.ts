import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/support/size.ts'
import { example, exampleName, goldenText, single } from '../../test/support/std-008.ts'
import { agentSessions, multiAgentSessions } from '../../test/support/std-008-arbitraries.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { type AgentEvent, catalogue, DraftEnvelope } from '../contract/event.ts'
import type { AgentSession } from '../contract/session-file/agent-session.ts'
import { sessionFromEvents } from './export-session.ts'
import { eventsFromSession } from './import-session.ts'
import { readSession } from './read-session.ts'
import { validateSession } from './validate.ts'

const ids = derivedIds('a file', Date.parse('2026-01-26T10:00:00Z'))

/** The events of a session as a journal gives them back: as text and parsed again. */
const stored = (session: AgentSession): AgentEvent[] =>
  JSON.parse(JSON.stringify(eventsFromSession(session, ids))) as AgentEvent[]
const exported = (session: AgentSession) => sessionFromEvents(stored(session), { sequence: 7 })
const anySession = fc.oneof(multiAgentSessions, agentSessions)

test('[LOG-126] every valid file comes back from its events field for field, unknown ones included', () => {
  fc.assert(
    fc.property(anySession, (session) => {
      const { document, kind } = exported(session)
      expect(document).toEqual(session)
      expect(kind).toBe('collaboration' in session ? 'std-008' : 'std-001')
    }),
    runs(200),
  )
})

test('[LOG-126] what the generator makes is valid and needs no repair, so the round trip is of real files', () => {
  fc.assert(
    fc.property(anySession, (session) => {
      expect(validateSession(session).errors).toEqual([])
      expect(readSession(session)).toMatchObject({ session, repairs: [] })
    }),
    runs(100),
  )
})

test('[LOG-126] every event of an import fits its envelope and its type', () => {
  fc.assert(
    fc.property(anySession, (session) => {
      for (const draft of eventsFromSession(session, ids)) {
        expect(DraftEnvelope.safeParse(draft).error).toBeUndefined()
        expect(catalogue[draft.type].payload.safeParse(draft.payload).error).toBeUndefined()
      }
    }),
    runs(100),
  )
})

test('[LOG-126] golden files come back from their events as they were read', () => {
  for (const name of [
    'v1-steps',
    'v2-phases',
    'late-drift',
    'role-prefixes',
    'early-title',
    'older-messages',
  ]) {
    const { session } = readSession(JSON.parse(goldenText(`${name}.json`)))
    expect(exported(session).document).toEqual(session)
  }
})

test('[LOG-126] the example keeps its name; a file whose id is no name gets one', () => {
  expect(exported(example()).filename).toBe(exampleName)
  expect(exported({ ...single(), session_id: '../etc/passwd' }).filename).toBe(
    '2026-01-26-007-read-files.json',
  )
})

test('[LOG-126] importing a file twice gives every event the same id, and another file others', () => {
  const events = eventsFromSession(example(), ids)
  expect(eventsFromSession(example(), ids)).toEqual(events)
  expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
  const others = eventsFromSession(example(), derivedIds('another file', 0))
  expect(others.filter((event) => events.some(({ id }) => id === event.id))).toEqual([])
})

test('[LOG-2, LOG-77] each agent has a run and a span of its own below the call that started it', () => {
  const events = eventsFromSession(example(), ids)
  const types = events.map((event) => event.type)
  expect([types[0], types.at(-2), types.at(-1)]).toEqual([
    'session.started',
    'result.summary',
    'session.completed',
  ])
  const spawned = events.filter((event) => event.type === 'agent.spawned')
  expect(spawned.map((event) => [event.payload.agentId, event.payload.triggeredByCallId])).toEqual([
    ['developer-01', 'tool-002'],
    ['reviewer-01', 'tool-003'],
  ])
  for (const agent of spawned) {
    const trigger = events.find(
      (event) =>
        event.type === 'tool.call.started' && event.payload.callId === agent.payload.triggeredByCallId,
    )
    expect(agent.parentSpanId).toBe(trigger?.spanId)
    const calls = events.filter((event) => event.type === 'tool.call.started' && event.runId === agent.runId)
    expect(calls.map((event) => event.parentSpanId)).toEqual([agent.spanId, agent.spanId])
  }
})

test('[LOG-126] whatever the clocks of a file say, a span starts before it ends and after what caused it', () => {
  fc.assert(
    fc.property(multiAgentSessions, (session) => {
      const events = eventsFromSession(session, ids)
      const opened = new Set<string>()
      for (const { type, spanId, parentSpanId } of events) {
        const role = catalogue[type].span
        if (role === 'start') opened.add(spanId)
        expect(opened.has(spanId)).toBe(true)
        if (parentSpanId !== undefined) expect(opened.has(parentSpanId)).toBe(true)
      }
    }),
    runs(100),
  )
})

test('[LOG-126] a file that was read with damage to its events is still valid', () => {
  fc.assert(
    fc.property(multiAgentSessions, fc.infiniteStream(fc.nat({ max: 9 })), (session, dice) => {
      // An erased or pruned journal has holes; the first event says what the rest is.
      const kept = stored(session).filter((_, i) => i === 0 || dice.next().value !== 0)
      const { document } = sessionFromEvents(kept, { sequence: 1 })
      expect(validateSession(document).errors).toEqual([])
    }),
    runs(150),
  )
})
