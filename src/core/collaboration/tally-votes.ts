import type { Ballot, Vote } from '../../contract/collaboration/crew-report.ts'
import type { PayloadOf } from '../../contract/event.ts'

/** What stands for no vote, in answers and in decisions. */
export const abstain = 'abstain'
/** What a decision says that was none. */
export const noDecision = 'no_decision'

type Election = {
  readonly number: number
  /** Who may vote. */
  readonly voters: readonly string[]
  readonly choices: readonly string[]
  /** So many have to vote for one of the choices. */
  readonly quorum: number
}

/**
 * Counts a ballot. Whatever is put into it, in whatever order, each voter has one vote or abstains: who is silent, who
 * votes more than once, and who votes for what is no choice; and nobody else has a vote.
 */
export function tallyVotes({ number, voters, choices, quorum }: Election, given: readonly Vote[]): Ballot {
  const votes = [...new Set(voters)].map((voter) => voteOf(voter, choices, given))
  const counts = choices.map((choice) => ({
    choice,
    votes: votes.filter((vote) => vote.choice === choice).length,
  }))
  const cast = counts.reduce((sum, count) => sum + count.votes, 0)
  const most = Math.max(0, ...counts.map((count) => count.votes))
  const first = counts.filter((count) => count.votes === most).map(({ choice }) => choice)
  const ballot = { number, choices: [...choices], quorum, votes }
  if (cast < Math.max(1, quorum)) return { ...ballot, result: 'no_quorum', choice: null, among: [] }
  return first.length === 1
    ? { ...ballot, result: 'decided', choice: first[0] ?? null, among: [] }
    : { ...ballot, result: 'tie', choice: null, among: first }
}

function voteOf(voter: string, choices: readonly string[], given: readonly Vote[]): Vote {
  const own = given.filter((vote) => vote.voter === voter)
  const [vote] = own
  if (vote === undefined) return { voter, choice: null, reason: 'it gave no vote' }
  if (own.length > 1)
    return { voter, choice: null, reason: 'it voted more than once, so none of its votes counts' }
  if (vote.choice === null || choices.includes(vote.choice)) return vote
  return { voter, choice: null, reason: `${vote.choice} is not among the choices` }
}

/** A vote that is tied is voted on once more among those that are, then a person decides. */
export const afterBallot = ({ result, number }: Ballot): 'decided' | 'no_decision' | 'again' | 'person' =>
  result === 'decided'
    ? 'decided'
    : result === 'no_quorum'
      ? 'no_decision'
      : number === 1
        ? 'again'
        : 'person'

/** What came of a ballot, in a sentence. */
export function ballotWords({ votes, result, choice, among, quorum }: Ballot): string {
  const cast = votes.filter((vote) => vote.choice !== null).length
  const of = `${cast} of ${votes.length} voted`
  if (result === 'no_quorum') return `no decision: ${of}, and ${quorum} have to`
  if (result === 'tie') return `a tie between ${among.join(' and ')}: ${of}`
  const won = votes.filter((vote) => vote.choice === choice).length
  return `${choice}: ${won} of ${cast} votes${cast < votes.length ? `, ${votes.length - cast} abstained` : ''}`
}

/** A ballot as a decision: each choice with those who voted for it and why, and what came of it. */
export function ballotDecision(ballot: Ballot): PayloadOf<'decision.made'> {
  const { choices, votes, choice } = ballot
  const of = (wanted: string | null) =>
    votes.filter((vote) => vote.choice === wanted).map(({ voter, reason }) => ({ voter, reason }))
  const silent = of(null)
  return {
    subject: 'approach',
    candidates: [
      ...choices.map((one) => ({ choice: one, votes: of(one) })),
      ...(silent.length > 0 ? [{ choice: abstain, votes: silent }] : []),
    ],
    choice: choice ?? noDecision,
    reason: ballotWords(ballot),
  }
}
