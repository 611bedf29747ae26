import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { arbitraryOf } from '../../test/support/schema-arbitrary.ts'
import { sessionDrafts } from '../../test/support/temp-engine.ts'
import { AppError } from '../contract/errors.ts'
import { type By, catalogue, type Draft, type EventType, eventTypes } from '../contract/event.ts'
import { event } from '../contract/event-definition.ts'
import { muster } from '../contract/principal.ts'
import { emptyFleet, evolveFleet, type Fleet } from './fleet.ts'
import { byObserved, refuseReport } from './reports.ts'

const [parent, own, sibling, record] = [sessionDrafts(), sessionDrafts(), sessionDrafts(), sessionDrafts()]
const at = { recordedAt: '2026-01-27T15:10:00.000Z' }
const operator: By = { kind: 'operator', id: 'cli', via: 'report' }
const as = ({ sessionId }: { sessionId: string }): By => ({ kind: 'session', id: sessionId, via: 'report' })
const callers = { operator, own: as(own), parent: as(parent), sibling: as(sibling) }
type Caller = keyof typeof callers

/** Two children of a session, all of which Muster runs, and a session that a person's tool has reported. */
function world(): Fleet {
  const start = (drafts: typeof own, parentSessionId?: typeof own.sessionId) =>
    drafts.draft(
      'session.started',
      { origin: 'managed', budget: { tokens: 100 }, ...(parentSessionId && { parentSessionId }) },
      { spanId: drafts.sessionSpan },
    )
  let fleet = emptyFleet()
  for (const draft of [start(parent), start(own, parent.sessionId), start(sibling, parent.sessionId)])
    fleet = evolveFleet(fleet, draft, { ...at, by: muster.by })
  return evolveFleet(fleet, record.started(), { ...at, by: operator })
}

const draftOf = (of: typeof own, type: EventType, payload: object = {}): Draft =>
  of.draft(type, payload as never)

function isAllowed(draft: Draft, by: By): boolean {
  try {
    refuseReport(world(), draft, by)
    return true
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'denied') throw error
    return false
  }
}

describe.each(eventTypes)('%s', (type) => {
  const { reporter, control, payload } = catalogue[type]

  test('[MUS-288] is taken from those who may report it, and from nobody else', () => {
    const allowed = (of: typeof own) =>
      Object.fromEntries(
        Object.entries(callers).map(([caller, by]) => [caller, isAllowed(draftOf(of, type), by)]),
      )
    const isOfSessions = reporter === 'session'
    expect(allowed(own)).toEqual({
      operator: isOfSessions,
      own: isOfSessions,
      parent: isOfSessions,
      sibling: false,
    } satisfies Record<Caller, boolean>)
    expect(allowed(record)).toEqual({
      operator: reporter !== 'daemon',
      own: false,
      parent: false,
      sibling: false,
    })
  })

  test('[MUS-288] no field that the daemon sets is taken from anyone', () => {
    for (const field of control)
      for (const target of [own, record])
        for (const by of Object.values(callers))
          expect(isAllowed(draftOf(target, type, { [field]: 1 }), by), field).toBe(false)
  })

  test('[MUS-288] no text of the vault is named by anyone but the daemon', () => {
    if (reporter !== 'daemon' && 'vault' in payload.shape) expect(control).toContain('vault')
  })

  test('[MUS-288] as a report it changes nothing that is decided on', () => {
    const kept = (fleet: Fleet, areSpansTold: boolean) =>
      structuredClone({
        permits: fleet.permits,
        modes: fleet.modes,
        sessions: [parent, own, sibling].map(({ sessionId }) => {
          const { open, reported: _reported, notes: _notes, ...rest } = fleet.sessions.get(sessionId) ?? {}
          return { ...rest, open: areSpansTold ? 0 : open, lastPrompt: 0, milestones: 0, board: 0 }
        }),
      })
    const vias = ['report', 'hook', 'transcript', 'import'] as const
    for (const content of fc.sample(arbitraryOf(payload), { seed: 1, numRuns: 20 }))
      for (const via of vias) {
        const observed = via === 'hook' || via === 'transcript'
        const by: By = { kind: 'session', id: own.sessionId, via }
        if (type === 'session.started' || (observed && byObserved(type, by) === muster.by)) continue
        const fleet = evolveFleet(world(), draftOf(own, type, content as object), { ...at, by })
        expect(kept(fleet, observed), via).toEqual(kept(world(), observed))
      }
  })
})

test('[MUS-288] a type that others may report says which of its fields are the daemon’s, or it does not compile', () => {
  const said = { about: 'x', title: () => [], payload: z.strictObject({ vault: z.string() }) }
  // @ts-expect-error without the row nobody has thought of it
  event({ ...said, reporter: 'session' })
  // @ts-expect-error the same for a person's tools
  event({ ...said, reporter: 'operator' })
  expect(event({ ...said, reporter: 'session', control: ['vault'] }).control).toEqual(['vault'])
  expect(event({ ...said, reporter: 'daemon' }).control).toEqual([])
})

test('[MUS-288] a session that was reported or imported is a record: it has no folder, limits or place', () => {
  for (const via of ['report', 'import'] as const) {
    const forged = sessionDrafts()
    const payload = { origin: 'runtime', workingDir: '/', depth: 3, budget: { tokens: 1e9 } } as const
    const started = forged.draft('session.started', { ...payload, parentSessionId: own.sessionId })
    const fleet = evolveFleet(world(), started, { ...at, by: { ...operator, via } })
    expect(fleet.sessions.get(forged.sessionId)).toMatchObject({ depth: 0, lifecycle: 'running' })
    expect(fleet.sessions.get(forged.sessionId)?.managed).toBeUndefined()
    expect(fleet.sessions.get(own.sessionId)?.descendants).toBe(0)
  }
})

test('[MUS-289] what a journal of before grants without saying who did is not in force, and is counted', () => {
  const permit = { cli: 'claude', folder: '/p', tool: 'Bash', text: 'rm' }
  const granted = (scope: 'session' | 'always') =>
    own.draft('approval.granted', {
      approvalId: 'apr_1',
      subject: 'tool',
      by: 'operator',
      scope,
      permit,
    } as never)
  const raised = own.draft('session.updated', { budget: { tokens: 1e9 }, by: 'operator' })
  const drafts = [granted('session'), granted('always'), raised]
  const folded = (by: By | undefined) => {
    let fleet = world()
    for (const draft of drafts) fleet = evolveFleet(fleet, draft, { ...at, by })
    return fleet
  }
  const before = folded(undefined)
  expect(before).toMatchObject({ permits: [], lapsed: 3 })
  expect(before.sessions.get(own.sessionId)).toMatchObject({ managed: { budget: { tokens: 100 } } })
  expect(before.sessions.get(own.sessionId)?.permits).toBeUndefined()
  const now = folded({ kind: 'operator', id: 'cli' })
  expect(now).toMatchObject({ permits: [permit], lapsed: 0 })
  expect(now.sessions.get(own.sessionId)).toMatchObject({
    managed: { budget: { tokens: 1e9 } },
    permits: [permit],
  })
})
