import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ago, sessionView } from '../../../test/support/watch-views.ts'
import type { SessionView } from '../../contract/session-views.ts'
import { arrange } from './arrange.ts'
import { rankOf, standingOf } from './session-state.ts'

const all = { folded: new Set<string>(), filter: '', isHidden: () => false }
const drawn = (sessions: readonly SessionView[], more: Partial<Parameters<typeof arrange>[1]> = {}) =>
  arrange(sessions, { ...all, ...more }).map(({ session, branch }) => `${branch}${session.friendly_name}`)

const named = (number: number, friendly_name: string, more: Partial<SessionView> = {}) =>
  sessionView(number, { friendly_name, created_at: ago(1000 - number), ...more })
const below = (parent: SessionView) => ({ parent_session_id: parent.session_id })
const blocked = { status: 'waiting_input', waiting_for: 'permission' } as const

describe('the order', () => {
  test('[MUS-238] a whole tree comes first when somebody deep in it waits', () => {
    const a = named(1, 'a')
    const b = named(2, 'b', { status: 'idle' })
    const b1 = named(3, 'b1', below(b))
    const b2 = named(4, 'b2', below(b))
    const b21 = named(5, 'b21', { ...below(b2), ...blocked })
    expect(drawn([b21, b2, b1, b, a])).toEqual(['b', '├ b2', '│ └ b21', '└ b1', 'a'])
  })

  test('waiting, trouble, running, idle, ended; who blocks most and longest before others', () => {
    const sessions = [
      named(1, 'ended', { status: 'completed', completed_at: ago(5) }),
      named(2, 'idle', { status: 'idle' }),
      named(3, 'running'),
      named(4, 'failed', { status: 'error', completed_at: ago(5) }),
      named(5, 'limited', { health: 'limited' }),
      named(6, 'asks lately', { ...blocked, last_activity_at: ago(10) }),
      named(7, 'asks long', { ...blocked, last_activity_at: ago(900) }),
      named(8, 'two below'),
    ]
    const parent = sessions[7] as SessionView
    sessions.push(named(9, 'x', { ...below(parent), ...blocked, last_activity_at: ago(1) }))
    sessions.push(named(10, 'y', { ...below(parent), ...blocked, last_activity_at: ago(1) }))
    expect(drawn(sessions)).toEqual([
      'two below',
      '├ x',
      '└ y',
      'asks long',
      'asks lately',
      'failed',
      'limited',
      'running',
      'idle',
      'ended',
    ])
  })

  test('parents in a circle are drawn once each, and one whose parent is not here stands at the top', () => {
    const a = named(1, 'a', { parent_session_id: '00000002' })
    const b = named(2, 'b', { parent_session_id: '00000001' })
    const c = named(3, 'c', { parent_session_id: 'gone' })
    expect(
      drawn([a, b, c])
        .map((line) => line.slice(-1))
        .sort(),
    ).toEqual(['a', 'b', 'c'])
  })

  test('every session is drawn exactly once, in an order that does not hang on the order of the answer', () => {
    const arbitrary = fc.array(
      fc.record({
        parent: fc.nat(20),
        status: fc.constantFrom(
          'running' as const,
          'idle' as const,
          'waiting_input' as const,
          'completed' as const,
        ),
      }),
      { maxLength: 20 },
    )
    fc.assert(
      fc.property(arbitrary, fc.infiniteStream(fc.nat()), (made, dice) => {
        const sessions = made.map(({ parent, status }, i) =>
          named(i, `s${i}`, {
            status,
            parent_session_id: parent === i ? null : sessionView(parent).session_id,
          }),
        )
        const order = arrange(sessions, all).map(({ session }) => session.id)
        expect(order.toSorted()).toEqual(sessions.map(({ id }) => id).toSorted())
        const shuffled = sessions
          .map((session) => ({ session, at: dice.next().value }))
          .sort((x, y) => x.at - y.at)
          .map(({ session }) => session)
        const roots = sessions.filter(({ parent_session_id }) => parent_session_id === null).length
        // Where parents form a circle, it is cut at the one that comes last.
        if (roots > 0 && made.every(({ parent }, i) => parent <= i))
          expect(arrange(shuffled, all).map(({ session }) => session.id)).toEqual(order)
      }),
    )
  })

  test('what is hidden stays as long as something below it is shown', () => {
    const parent = named(1, 'parent')
    const child = named(2, 'child', below(parent))
    const isHidden = ({ friendly_name }: SessionView) => friendly_name === 'parent'
    expect(drawn([parent, child], { isHidden })).toEqual(['parent', '└ child'])
    expect(drawn([parent], { isHidden })).toEqual([])
  })
})

describe('states', () => {
  test.each([
    [{ pending_approvals: 1 }, 'blocked', 'waiting'],
    [{ waiting_for: 'plan' }, 'blocked', 'plan'],
    [{ status: 'waiting_input', waiting_for: 'background' }, 'running', 'background'],
    [{ waiting_for: 'limit' }, 'trouble', 'limited'],
    [{ status: 'failed', waiting_for: 'limit' }, 'trouble', 'limited'],
    [{ status: 'failed' }, 'trouble', 'failed'],
    [{ health: 'stuck' }, 'trouble', 'stuck'],
    [{ health: 'crashed' }, 'trouble', 'crashed'],
    [{ status: 'error' }, 'trouble', 'error'],
    [{ status: 'starting' }, 'running', 'starting'],
    [{ activity: 'thinking' }, 'running', 'thinking'],
    [{ health: 'retrying' }, 'running', 'retrying'],
    [{ status: 'idle', health: 'stale' }, 'idle', 'idle?'],
    [{ status: 'completed', pending_approvals: 1 }, 'ended', 'done'],
    [{ status: 'killed' }, 'ended', 'killed'],
  ] as const)('%j is %s and shown as %s', (more, rank, word) => {
    const session = sessionView(1, more)
    expect(rankOf(session)).toBe(rank)
    expect(standingOf(session, 0).word).toBe(word)
  })
})
