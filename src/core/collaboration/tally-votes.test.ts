import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { afterBallot, ballotDecision, ballotWords, tallyVotes } from './tally-votes.ts'
import { voteContract, votePrompt } from './vote-prompt.ts'

const voters = ['ann', 'bob', 'cid', 'dot']
const choices = ['yes', 'no']
const election = { number: 1, voters, choices, quorum: 3 }
const vote = (voter: string, choice: string | null) => ({ voter, choice, reason: `${voter} says ${choice}` })
const tally = (...votes: ReturnType<typeof vote>[]) => tallyVotes(election, votes)

test('[COL-72] most votes decide; a silent voter abstains, and its vote is nobody else’s', () => {
  const ballot = tally(vote('ann', 'yes'), vote('bob', 'yes'), vote('cid', 'no'))
  expect(ballot).toMatchObject({ result: 'decided', choice: 'yes' })
  expect(ballot.votes[3]).toEqual({ voter: 'dot', choice: null, reason: 'it gave no vote' })
  expect(ballotWords(ballot)).toBe('yes: 2 of 3 votes, 1 abstained')
  expect(afterBallot(ballot)).toBe('decided')
})

test('[COL-72] without a quorum nothing is decided, and a tie is voted on once more and then is for a person', () => {
  const few = tally(vote('ann', 'yes'), vote('bob', 'yes'), vote('cid', null))
  expect(few).toMatchObject({ result: 'no_quorum', choice: null })
  expect(ballotWords(few)).toBe('no decision: 2 of 4 voted, and 3 have to')
  expect(afterBallot(few)).toBe('no_decision')
  const tied = tally(vote('ann', 'yes'), vote('bob', 'yes'), vote('cid', 'no'), vote('dot', 'no'))
  expect(tied).toMatchObject({ result: 'tie', choice: null, among: ['yes', 'no'] })
  expect(afterBallot(tied)).toBe('again')
  expect(afterBallot({ ...tied, number: 2 })).toBe('person')
})

test('[COL-72] who votes twice has no vote, also when both are the same; a stranger has none, and no other choice is one', () => {
  const ballot = tally(
    vote('ann', 'yes'),
    vote('ann', 'yes'),
    vote('eve', 'yes'),
    vote('bob', 'maybe'),
    vote('cid', 'no'),
  )
  expect(ballot.votes.map(({ voter, choice, reason }) => [voter, choice, reason])).toEqual([
    ['ann', null, 'it voted more than once, so none of its votes counts'],
    ['bob', null, 'maybe is not among the choices'],
    ['cid', 'no', 'cid says no'],
    ['dot', null, 'it gave no vote'],
  ])
  expect(ballot.result).toBe('no_quorum')
})

const anyVotes = fc.array(
  fc.record({
    voter: fc.constantFrom(...voters, 'eve'),
    choice: fc.constantFrom('yes', 'no', 'maybe', null),
    reason: fc.string(),
  }),
  { maxLength: 8 },
)

test('[COL-72] the tally does not depend on the order of the votes, and nobody has more than one', () => {
  fc.assert(
    fc.property(
      anyVotes.chain((votes) =>
        fc.tuple(fc.constant(votes), fc.shuffledSubarray(votes, { minLength: votes.length })),
      ),
      fc.nat(5),
      ([votes, shuffled], quorum) => {
        const ballot = tallyVotes({ ...election, quorum }, votes)
        expect(tallyVotes({ ...election, quorum }, shuffled)).toEqual(ballot)
        expect(ballot.votes.map(({ voter }) => voter)).toEqual(voters)
        const cast = ballot.votes.filter(({ choice }) => choice !== null)
        expect(cast.length < Math.max(1, quorum)).toBe(ballot.result === 'no_quorum')
        if (ballot.result === 'decided') {
          const of = (wanted: string) => cast.filter(({ choice }) => choice === wanted).length
          for (const other of choices)
            if (other !== ballot.choice) expect(of(ballot.choice ?? '')).toBeGreaterThan(of(other))
        }
      },
    ),
    runs(500),
  )
})

test('[COL-72] a ballot is a decision with every vote, its reason and its voter', () => {
  const ballot = tally(vote('ann', 'yes'), vote('bob', 'yes'), vote('cid', 'no'))
  expect(ballotDecision(ballot)).toEqual({
    subject: 'approach',
    candidates: [
      {
        choice: 'yes',
        votes: [
          { voter: 'ann', reason: 'ann says yes' },
          { voter: 'bob', reason: 'bob says yes' },
        ],
      },
      { choice: 'no', votes: [{ voter: 'cid', reason: 'cid says no' }] },
      { choice: 'abstain', votes: [{ voter: 'dot', reason: 'it gave no vote' }] },
    ],
    choice: 'yes',
    reason: 'yes: 2 of 3 votes, 1 abstained',
  })
  expect(ballotDecision(tally()).choice).toBe('no_decision')
})

const { read } = voteContract('ann', ['SQLite', 'Postgres'])
const said = (value: unknown) => read(JSON.stringify(value))

test('[COL-72] an answer is one vote for one of the choices, and for nobody else; the last words count', () => {
  expect(said({ vote: ' sqlite ', reason: 'small' })).toEqual({ value: { vote: 'SQLite', reason: 'small' } })
  expect(said({ vote: 'ABSTAIN', reason: '?' })).toMatchObject({ value: { vote: 'abstain' } })
  expect(said({ vote: 'MySQL', reason: 'r' })).toEqual({
    problems: ['vote: MySQL is not a choice; choose one of: SQLite, Postgres, abstain'],
  })
  expect(said({ vote: ['SQLite', 'SQLite'], reason: 'r' })).toHaveProperty('problems')
  expect(said({ voter: 'bob', vote: 'SQLite', reason: 'r' })).toEqual({
    problems: ['voter: you vote for ann and for nobody else; leave it out'],
  })
  expect(read('{"vote":"SQLite","reason":"a"} no: {"vote":"Postgres","reason":"b"}')).toMatchObject({
    value: { vote: 'Postgres' },
  })
})

test('[COL-72] a voter is told the choices and, after a tie, the reasons, but not who gave them', () => {
  const given = { number: 1, request: 'Which?', voter: 'ann', role: 'reviewer', choices, before: [] }
  expect(votePrompt(given)).not.toContain('tie')
  const again = votePrompt({ ...given, before: [{ ...vote('bob', 'no'), reason: 'too slow' }] })
  expect(again).toContain('- no: too slow')
  expect(again).not.toContain('bob')
  expect(votePrompt({ ...given, diff: `+${'x'.repeat(70_000)}` })).toContain(
    'Only its first 60000 characters',
  )
})
