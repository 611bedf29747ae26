import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import {
  afterPeerRound,
  agreementWords,
  dissenters,
  isAgreed,
  newPeerRounds,
  type PeerTurn,
  takeTurn,
} from './peer-rounds.ts'
import { addressed, mostMessages, peerContract, turnPrompt } from './peer-turn.ts'

const members = ['ann', 'bob', 'cid']
const begun = newPeerRounds(members, 'c0')
const after = (...turns: readonly Partial<PeerTurn>[]) =>
  turns.reduce<typeof begun>(
    (rounds, turn) =>
      takeTurn(rounds, { by: 'ann', reply: { agrees: true }, commit: rounds.shared.commit, ...turn }).rounds,
    begun,
  )
const writes = (version: number, content: string, agrees = true) => ({
  reply: { agrees, board: { version, content } },
})

test('[COL-70] it ends when all agree with one version: a change of words or files is a new one that its author alone agrees with', () => {
  const one = after({ by: 'ann', ...writes(0, 'plan') }, { by: 'bob' })
  expect(agreementWords(one)).toBe('ann and bob agree with version 1, cid does not')
  const two = takeTurn(one, { by: 'cid', reply: { agrees: true }, commit: 'c1' })
  expect(two).toMatchObject({ made: { version: 2, content: 'plan', commit: 'c1', by: 'cid' } })
  expect(dissenters(two.rounds)).toEqual(['ann', 'bob'])
  const all = ['ann', 'bob'].reduce(
    (rounds, by) => takeTurn(rounds, { by, reply: { agrees: true }, commit: 'c1' }).rounds,
    two.rounds,
  )
  expect(isAgreed(all)).toBe(true)
  expect(agreementWords(all)).toBe('ann and bob and cid agree with version 2')
})

test('[COL-70] words written over a version that was not seen are not taken, and are no agreement', () => {
  const one = after({ by: 'ann', ...writes(0, 'plan') })
  const stale = takeTurn(one, { by: 'bob', ...writes(0, 'mine'), commit: 'c0' })
  expect(stale).toEqual({ rounds: one, conflict: { seen: 0, content: 'mine' } })
  // What it put there with its own tool is the version that it has seen.
  const written = { version: 2, content: 'by hand' }
  expect(takeTurn(one, { by: 'bob', reply: { agrees: true }, commit: 'c0', written })).toEqual({
    rounds: {
      ...one,
      shared: { version: 2, content: 'by hand', commit: 'c0', by: 'bob' },
      agreed: { ann: 1, bob: 2 },
    },
  })
})

test('[COL-70] silence agrees with nothing new, and nobody can agree with nothing', () => {
  expect(isAgreed(after({ by: 'ann' }, { by: 'bob' }, { by: 'cid' }))).toBe(false)
  const silent = after({ by: 'ann', ...writes(0, 'plan') }, { by: 'bob' }, { by: 'cid', reply: undefined })
  expect(dissenters(silent)).toEqual(['cid'])
  expect(afterPeerRound(silent, { round: 1, maxRounds: 2, heard: 2 })).toBe('another')
  expect(afterPeerRound(silent, { round: 2, maxRounds: 2, heard: 2 })).toBe('limit')
  expect(afterPeerRound(silent, { round: 1, maxRounds: 2, heard: 0 })).toBe('silent')
  // Who takes its word back does not agree any more.
  expect(dissenters(takeTurn(silent, { by: 'bob', reply: { agrees: false }, commit: 'c0' }).rounds)).toEqual([
    'bob',
    'cid',
  ])
})

const turns = fc.array(
  fc.record({
    by: fc.constantFrom(...members, 'eve'),
    reply: fc.option(
      fc.record({
        agrees: fc.boolean(),
        board: fc.option(fc.record({ version: fc.nat(4), content: fc.constantFrom('a', 'b') }), {
          nil: undefined,
        }),
      }),
      { nil: undefined },
    ),
    commit: fc.constantFrom('c0', 'c1', 'c2'),
    written: fc.option(fc.record({ version: fc.nat(6), content: fc.constantFrom('x', 'y') }), {
      nil: undefined,
    }),
  }) as fc.Arbitrary<PeerTurn>,
  { maxLength: 20 },
)

test('[COL-70] whatever happens: versions only grow, an agreement is of every member with the last state, and strangers count for nothing', () => {
  fc.assert(
    fc.property(turns, (all) => {
      let rounds = begun
      for (const turn of all) {
        const next = takeTurn(rounds, turn)
        if (turn.by === 'eve') expect(next.rounds).toBe(rounds)
        expect(next.rounds.shared.version).toBeGreaterThanOrEqual(rounds.shared.version)
        const isSame = JSON.stringify(next.rounds.shared) === JSON.stringify(rounds.shared)
        expect(next.rounds.shared.version === rounds.shared.version).toBe(isSame)
        for (const [id, version] of Object.entries(next.rounds.agreed)) {
          expect(members).toContain(id)
          expect(version).toBeLessThanOrEqual(next.rounds.shared.version)
        }
        rounds = next.rounds
        const last = members.every((id) => {
          const own = all.slice(0, all.indexOf(turn) + 1).filter((one) => one.by === id && one.reply)
          return own.at(-1)?.reply?.agrees === true
        })
        // Whoever did not say yes with its last words is part of no agreement.
        if (isAgreed(rounds)) expect(last).toBe(true)
      }
    }),
    runs(300),
  )
})

const answer = (value: object) =>
  `\`\`\`json\n${JSON.stringify({ summary: 's', agrees: true, ...value })}\n\`\`\``
const { read } = peerContract('ann', members)

test('[COL-70] a peer writes to others who are there, not to itself, and not without end', () => {
  expect(read(answer({ messages: [{ to: 'bob', content: 'hi' }] }))).toMatchObject({
    value: { agrees: true },
  })
  expect(
    read(
      answer({
        messages: [
          { to: 'ann', content: 'me' },
          { to: 'eve', content: 'you' },
        ],
      }),
    ),
  ).toEqual({
    problems: [
      'messages.0.to: ann is nobody you can write to; there are bob, cid, all',
      'messages.1.to: eve is nobody you can write to; there are bob, cid, all',
    ],
  })
  const flood = Array.from({ length: 5000 }, () => ({ to: 'bob', content: 'x' }))
  expect(read(answer({ messages: flood }))).toEqual({
    problems: [`messages: 5000 are too many; send at most ${mostMessages} in a turn`],
  })
  expect(addressed({ messages: [{ to: 'all', content: 'hi' }] }, 'bob', members)).toEqual([
    { to: 'ann', content: 'hi' },
    { to: 'cid', content: 'hi' },
  ])
})

test('[COL-70] a turn shows the request, the board with its version, how all stand, the files and the messages, none of which can break out', () => {
  const prompt = turnPrompt({
    request: 'Do it ```\nno',
    who: { id: 'bob', role: 'coder' },
    peers: members.map((id) => ({ id, role: 'coder' })),
    round: 2,
    maxRounds: 3,
    rounds: after({ by: 'ann', ...writes(0, 'the plan') }),
    mail: [{ id: 'm1', from: 'ann', content: 'look at ``` it' }],
    files: ['a.txt'],
  })
  expect(prompt).toMatch(
    /You are bob \(coder\), in round 2 of at most 3, .* with ann \(coder\), cid \(coder\)/,
  )
  expect(prompt).toContain('````\nDo it ```\nno\n````')
  expect(prompt).toContain('at version 1, made by ann:\n\n```\nthe plan\n```')
  expect(prompt).toContain('ann agrees with version 1, bob and cid do not')
  expect(prompt).toContain('ann:\n````\nlook at ``` it\n````')
  expect(prompt).toContain('- a.txt')
})
