import type { Ballot, Vote } from '../../contract/collaboration/crew-report.ts'
import type { VoteReply } from '../../contract/collaboration/replies.ts'
import type { CrewVote } from '../../contract/crew.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { DoneTask } from '../../core/collaboration/crew-report.ts'
import {
  abstain,
  afterBallot,
  ballotDecision,
  ballotWords,
  noDecision,
  tallyVotes,
} from '../../core/collaboration/tally-votes.ts'
import { voteContract, votePrompt, votersTools } from '../../core/collaboration/vote-prompt.ts'
import { delegate } from '../../engine/delegation/delegate.ts'
import { inSpareTree } from '../../engine/delegation/spare-tree.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { LimitReached, NotTheSame, type Procedure } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { recordDecision } from './ask-architect.ts'
import { branchOf, type Someone, treeOf, workerOf } from './crew-parts.ts'
import type { CrewRun, Ending } from './crew-run.ts'

/**
 * Voters side by side, each in a place of its own that is thrown away. A tie is voted on once more with the reasons, and
 * a second one is for a person; without a quorum nothing is decided.
 */
export async function consensusFlow(crew: CrewRun): Promise<Ending> {
  const { vote } = crew.input.crew
  if (!vote) throw new Error('a crew that votes has something to vote on')
  const diff = vote.on === 'diff' ? await changeOf(crew) : undefined
  if (diff === '') return { outcome: 'failed', summary: 'There is nothing to vote on: no file is changed.' }
  const procedure = voteProcedure(crew)
  let { choices } = vote
  let before: readonly Vote[] = []
  for (let number = 1; ; number++) {
    const ballot = await ballotOf(crew, { number, choices, before, diff, procedure })
    crew.state.ballots.push(ballot)
    const next = afterBallot(ballot)
    if (next === 'decided' && ballot.choice !== null)
      return endingOf(vote, ballot.choice, { outcome: 'approved', summary: ballotWords(ballot) })
    if (next === 'no_decision') return { outcome: 'aborted', summary: ballotWords(ballot), isAnswer: true }
    if (next === 'person') return decidedByPerson(crew, vote, ballot)
    choices = ballot.among
    before = ballot.votes.filter((one) => one.choice !== null)
  }
}

/** The change that is voted on, in the words of git. */
async function changeOf({ flow, parts, input }: CrewRun): Promise<string> {
  const { root, base, since = base, reviewed = base } = input.repo
  return flow.step('change', async ({ signal }) => {
    const { diff } = await parts.branches.changes(root, { from: since, to: reviewed }, signal)
    return diff
  })
}

/** What was decided is what was asked for; only a change that is voted down is not accepted. */
const endingOf = ({ on }: CrewVote, choice: string, ending: Omit<Ending, 'isAnswer'>): Ending => ({
  ...ending,
  ...(on === 'diff' && choice !== 'approve' && { outcome: 'unapproved' }),
  isAnswer: true,
})

type Election = {
  readonly number: number
  readonly choices: readonly string[]
  readonly before: readonly Vote[]
  readonly diff: string | undefined
  readonly procedure: Procedure<Voting, Voted>
}

/** One ballot: everybody is asked at the same time, all are heard, and what came of it is written with every vote. */
function ballotOf(crew: CrewRun, { number, choices, before, diff, procedure }: Election): Promise<Ballot> {
  const { flow, input, phases } = crew
  const voters = votersOf(crew)
  const { base, reviewed = base } = input.repo
  const phase = { key: `vote-${number}`, inputCount: voters.length }
  return phases.run('vote', phase, async ({ spanId: nodeId }) => {
    const children = voters.map((voter) => {
      const { request } = input
      const { id, member } = voter
      const prompt = votePrompt({ number, request, voter: id, role: member.role, choices, diff, before })
      const voting = { number, voter, choices, prompt, commit: diff === undefined ? base : reviewed, nodeId }
      return { id, child: flow.child(`vote-${number}/${id}`, procedure, voting) }
    })
    const heard = await Promise.allSettled(children.map(({ child }) => child.result()))
    const votes = heard.map((one, i): Vote => {
      if (one.status === 'fulfilled') {
        const { vote, task } = one.value
        crew.state.tasks.set(task.task_id, task)
        return vote
      }
      const { reason: error } = one
      if (flow.signal.aborted || error instanceof LimitReached || error instanceof NotTheSame) throw error
      // Its place could not be made: nobody asked it.
      const reason = error instanceof Error ? error.message : String(error)
      return { voter: children[i]?.id ?? '', choice: null, reason }
    })
    const { vote } = input.crew
    const roll = voters.map(({ id }) => id)
    const value = tallyVotes({ number, voters: roll, choices, quorum: vote?.quorum ?? 1 }, votes)
    await flow.step(`decide-vote-${number}`, async ({ tell }) => {
      const at = { ...flow.root(), spanId: nodeId, actor: crew.orchestrator.agentId }
      tell(draftOf(at, 'decision.made', ballotDecision(value)))
    })
    return { value, count: value.votes.filter((one) => one.choice !== null).length, edge: value.result }
  })
}

/** Everybody who has a vote, each under a name of its own. */
const votersOf = ({ voters }: CrewRun): Someone[] =>
  voters.flatMap(({ id, member }) =>
    member.count === 1
      ? [{ id, member }]
      : Array.from({ length: member.count }, (_, i) => ({ id: `${id}-${i + 1}`, member })),
  )

/** One vote as data. */
type Voting = {
  readonly number: number
  readonly voter: Someone
  readonly choices: readonly string[]
  readonly prompt: string
  /** What it looks at. */
  readonly commit: string
  /** The node that it hangs under. */
  readonly nodeId: SpanId
}

/** What came of it, as a vote and for the report. */
type Voted = { readonly vote: Vote; readonly task: DoneTask }

/** One voter, who sees the project and nobody else; whose vote it is follows from who was asked. */
const voteProcedure = (crew: CrewRun): Procedure<Voting, Voted> => ({
  name: 'vote',
  version: '1',
  async run(flow, { number, voter, choices, prompt, commit, nodeId }) {
    const { parts, input, reviewerMs: timeoutMs } = crew
    const { root, inside } = input.repo
    const { workflowId } = flow.root()
    const name = `vote-${number}-${voter.id}`
    const done = await inSpareTree(parts.branches, flow, {
      root,
      inside,
      commit,
      path: treeOf(parts.worktrees, workflowId, name),
      branch: branchOf(workflowId, { task_id: name }),
      act: (folder) =>
        delegate(crew.delegationParts(), flow, {
          assignment: { kind: 'text', taskId: name, prompt },
          contract: voteContract(voter.id, choices),
          allowed: { scopes: [], tools: votersTools, timeoutMs },
          from: crew.orchestrator,
          to: workerOf(voter),
          prompt,
          place: { kind: 'shared', folder },
          parentSpanId: nodeId,
          about: `Vote ${number}: ${input.request.split('\n', 1)[0] ?? ''}`.slice(0, 200),
          progressMs: input.crew.limits.progressSeconds * 1000,
        }),
    })
    const said = done.state === 'completed' ? (done.value as VoteReply) : undefined
    const choice = said === undefined || said.vote === abstain ? null : said.vote
    const reason = said?.reason ?? `no vote: ${done.failure?.error ?? done.summary}`
    return {
      vote: { voter: voter.id, choice, reason },
      task: {
        task_id: name,
        title: `Vote ${number} of ${voter.id}`,
        state: done.state,
        files: [],
        summary: choice ?? abstain,
        duration_ms: done.end?.durationMs ?? 0,
        ...(done.failure && { because: done.failure.error }),
      },
    }
  },
})

/** A second tie is for a person; one who does not want to choose leaves it undecided. */
async function decidedByPerson(crew: CrewRun, vote: CrewVote, ballot: Ballot): Promise<Ending> {
  const { among, number } = ballot
  const choice = await crew.phases.run('vote', { key: 'vote-person', inputCount: 1 }, async () => {
    const value = await chosenByPerson(crew, ballot)
    return { value, count: value === undefined ? 0 : 1, edge: value === undefined ? noDecision : 'decided' }
  })
  const tied = `${number} votes were tied between ${among.join(' and ')}`
  const reason = choice === undefined ? `${tied}, and a person did not choose` : `${tied}, and a person chose`
  await recordDecision(crew, {
    name: 'decide-person',
    at: crew.flow.root(),
    by: 'operator',
    decision: { subject: 'approach', candidates: among, choice: choice ?? noDecision, reason },
  })
  if (choice === undefined)
    return { outcome: 'unapproved', summary: `no decision: ${reason}`, isAnswer: true }
  return endingOf(vote, choice, { outcome: 'force_approved', summary: `${choice}: ${reason}` })
}

/** Asks until one of the tied choices is named, or none is wanted. */
async function chosenByPerson({ flow }: CrewRun, ballot: Ballot): Promise<string | undefined> {
  const said = ballot.votes.map(({ voter, choice, reason }) => `${voter}: ${choice ?? abstain}: ${reason}`)
  for (let n = 1; ; n++) {
    const decision = await askPerson(flow, `tie-${n}`, {
      subject: 'plan',
      action: `The vote is tied. Choose: ${ballot.among.join(' or ')}`,
      reason: said.join('\n'),
      risk: 'medium',
      options: [...ballot.among],
    })
    if (decision.verdict === 'deny') return undefined
    const [answer] = Object.values(decision.answers ?? {})
    const choice = ballot.among.find((one) => one === answer)
    if (choice !== undefined) return choice
  }
}
