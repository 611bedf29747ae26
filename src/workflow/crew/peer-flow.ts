import type { PeerReply } from '../../contract/collaboration/replies.ts'
import type { Draft } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import { answerDecision } from '../../core/collaboration/after-review.ts'
import {
  type AfterTurn,
  afterPeerRound,
  agreementWords,
  isAgreed,
  newPeerRounds,
  type PeerRounds,
  takeTurn,
} from '../../core/collaboration/peer-rounds.ts'
import { addressed, type PeerMessage, peerContract, turnPrompt } from '../../core/collaboration/peer-turn.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { boardItems } from '../../core/session/blackboard-items.ts'
import { type Delegated, delegate } from '../../engine/delegation/delegate.ts'
import type { Place } from '../../engine/delegation/place.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { askAboutRounds } from './ask-about-rounds.ts'
import { recordDecision } from './ask-architect.ts'
import { fileChange } from './complete.ts'
import { type Someone, workerOf } from './crew-parts.ts'
import { reviewWork } from './crew-review.ts'
import type { CrewRun, Ending } from './crew-run.ts'

/** What the peers share, as it is at the end of a turn. */
type Together = {
  readonly rounds: PeerRounds
  /** Files that were changed since all began. */
  readonly files: readonly ChangedFile[]
  /** What each has not read yet. */
  readonly mail: Readonly<Record<string, readonly PeerMessage[]>>
}

/**
 * Equals in one place: they take turns, message each other and share one blackboard, until all of them agree with the
 * same version of it and of the files, or no rounds are left.
 */
export async function peerFlow(crew: CrewRun): Promise<Ending> {
  const { input, peers, talk, phases, state } = crew
  for (const { id, member } of peers) talk.join({ agentId: id, agentType: member.role })
  let all: Together = {
    rounds: newPeerRounds(
      peers.map(({ id }) => id),
      input.repo.base,
    ),
    files: [],
    mail: {},
  }
  let maxRounds = input.crew.limits.maxIterations
  for (let round = 1; ; round++) {
    const phase = { key: `round-${round}`, inputCount: peers.length }
    const next = await phases.run('delegate', phase, async ({ spanId: nodeId }) => {
      let heard = 0
      for (const who of peers) {
        const taken = await turn(crew, { who, round, maxRounds, all, nodeId })
        all = taken.all
        if (taken.isHeard) heard += 1
        // With the last agreement all is done: nobody is asked to do more.
        if (isAgreed(all.rounds)) break
      }
      const value = afterPeerRound(all.rounds, { round, maxRounds, heard })
      return { value, count: heard, edge: value }
    })
    const words = agreementWords(all.rounds)
    state.agreement = agreementOf(all.rounds, round)
    if (next === 'agreed') return agreed(crew, all, { round, words })
    if (next === 'silent')
      return { outcome: 'aborted', summary: `Nobody answered in round ${round}: ${words}` }
    if (next === 'another') continue
    const summary = `No agreement: ${round} of ${maxRounds} rounds are used up, and ${words}`
    const choice = await atLimit(crew, { round, maxRounds, summary, words })
    if (choice === 'force_approve') return { outcome: 'force_approved', summary, isAnswer: hasWords(all) }
    if (choice === 'abort') return { outcome: 'unapproved', summary, isAnswer: hasWords(all) }
    maxRounds += 1
  }
}

/** What was agreed on in words is a result too. */
const hasWords = ({ rounds }: Together): boolean => rounds.shared.content.trim() !== ''

const agreementOf = (rounds: PeerRounds, round: number) => ({
  agreed: isAgreed(rounds),
  version: rounds.shared.version,
  rounds: round,
  board: rounds.shared.content,
  members: rounds.members.map((id) => ({ agent_id: id, version: rounds.agreed[id] ?? null })),
})

type Turn = {
  readonly who: Someone
  readonly round: number
  readonly maxRounds: number
  readonly all: Together
  /** The node that it hangs under. */
  readonly nodeId: SpanId
}

/** One member has the place to itself; what it says counts once it is read, and what it left there is committed. */
async function turn(
  crew: CrewRun,
  given: Turn,
): Promise<{ readonly all: Together; readonly isHeard: boolean }> {
  const { flow, state, talk, peers } = crew
  const { who, round, all } = given
  const members = peers.map(({ id }) => id)
  const name = `round-${round}-${who.id}`
  const done = await work(crew, given, name)
  const reply = done.state === 'completed' ? (done.value as PeerReply) : undefined
  const { after, files, own } = await settle(crew, given, { name, done, reply })
  state.tasks.set(name, {
    task_id: name,
    title: `${who.id}, round ${round}`,
    state: done.state,
    files: own,
    summary: (reply?.summary ?? done.summary).slice(0, mostSummary),
    duration_ms: done.end?.durationMs ?? 0,
    ...(done.failure && { because: done.failure.error }),
  })
  const mail: Record<string, readonly PeerMessage[]> = { ...all.mail, [who.id]: [] }
  const sent = reply ? addressed(reply, who.id, members) : []
  for (const [i, { to, content }] of sent.entries()) {
    // What it has just read of the other it answers.
    const replyTo = all.mail[who.id]?.findLast(({ from }) => from === to)?.id
    const payload = feedback(round, content)
    const id = await talk.say(flow, `${name}-${i + 1}`, {
      utterance: { from: who.id, to, type: 'feedback', payload, ...(replyTo !== undefined && { replyTo }) },
    })
    mail[to] = [...(mail[to] ?? []), { id, from: who.id, content }]
  }
  return { all: { rounds: after.rounds, files, mail }, isHeard: reply !== undefined }
}

const feedback = (round: number, content: string) => ({
  feedback_type: 'guidance' as const,
  subject: `round ${round}`,
  content,
  action_required: false,
})

function work(crew: CrewRun, { who, round, maxRounds, all, nodeId }: Turn, name: string): Promise<Delegated> {
  const { input, flow, path, branch, opened, peers } = crew
  const { root, base, inside } = input.repo
  const place: Exclude<Place, { kind: 'shared' }> = {
    kind: 'tree',
    root,
    path,
    branch,
    base,
    needs: [],
    inside,
    message: `${who.id}, round ${round}\n\nTask: ${name}`,
  }
  const prompt = turnPrompt({
    request: input.request,
    who: { id: who.id, role: who.member.role },
    peers: peers.map(({ id, member }) => ({ id, role: member.role })),
    round,
    maxRounds,
    rounds: all.rounds,
    mail: all.mail[who.id] ?? [],
    files: all.files.map((file) => file.path),
  })
  return delegate(crew.delegationParts(), flow, {
    name,
    assignment: { kind: 'text', taskId: name, prompt },
    contract: peerContract(who.id, all.rounds.members),
    allowed: { scopes: [], timeoutMs: crew.developerMs },
    from: crew.orchestrator,
    to: workerOf(who),
    prompt,
    place,
    parentSpanId: nodeId,
    about: `Round ${round}: ${input.request.split('\n', 1)[0] ?? ''}`.slice(0, 200),
    progressMs: input.crew.limits.progressSeconds * 1000,
    begun({ start }) {
      // One at a time: what is left of the others is in commits.
      opened.clear()
      if (start !== undefined) opened.set(name, { branch, work: { place, start, scopes: [] } })
    },
  })
}

const mostSummary = 2000
/** The most characters that a peer is shown of it, whoever wrote them. */
const mostBoard = 8000

/** The item of the blackboard that all peers of a crew share. */
const sharedItem = 'shared'

type Taken = {
  readonly name: string
  readonly done: Delegated
  readonly reply: PeerReply | undefined
}

type Settled = {
  readonly after: AfterTurn
  readonly files: readonly ChangedFile[]
  /** What was changed in this turn. */
  readonly own: FileChange[]
}

/** What the turn has made of the files and the blackboard, written once. */
function settle(crew: CrewRun, { who, all, nodeId }: Turn, { name, done, reply }: Taken): Promise<Settled> {
  const { flow, parts, path, input } = crew
  return flow.step(`${name}:shared`, async ({ signal, tell }) => {
    const { commit } = await parts.branches.head(path, signal)
    const since = (from: string) => parts.branches.changes(path, { from, to: commit }, signal)
    const { files } = await since(input.repo.base)
    const own = await since(done.start ?? commit)
    const written = await onBoard(crew)
    const after = takeTurn(all.rounds, { by: who.id, reply, commit, written })
    const { made, conflict, rounds } = after
    const at = { ...flow.root(), spanId: nodeId, actor: who.id }
    const item = { itemId: sharedItem, sourceAgent: who.id }
    const facts: Draft[] = []
    if (conflict)
      facts.push(
        draftOf(at, 'blackboard.item.updated', {
          ...item,
          content: { text: conflict.content },
          version: rounds.shared.version - (made ? 1 : 0),
          conflict: true,
        }),
      )
    if (made) {
      const next = { ...item, content: { text: made.content, commit: made.commit }, version: made.version }
      facts.push(
        written
          ? draftOf(at, 'blackboard.item.updated', next)
          : draftOf(at, 'blackboard.item.created', { ...next, itemType: 'artifact' }),
      )
    }
    tell(...facts)
    return { after, files, own: own.files.map(fileChange) }
  })
}

const boardFacts = ['blackboard.item.created', 'blackboard.item.updated'] as const

/** What the facts say is on the blackboard, also where a member wrote it there with its own tool. */
async function onBoard({ parts, flow }: CrewRun) {
  const events = []
  for await (const event of parts.events(flow.root().sessionId, boardFacts)) events.push(event)
  // What peers agree on does not run out while they talk.
  const item = boardItems(events, 0).find(({ id }) => id === sharedItem)
  if (!item) return undefined
  const { text } = (item.content ?? {}) as { readonly text?: unknown }
  const content = typeof text === 'string' ? text : typeof item.content === 'string' ? item.content : ''
  return { version: item.version, content: content.slice(0, mostBoard) }
}

type Agreed = { readonly round: number; readonly words: string }

/** They agree; where they changed files, the checks of the crew decide besides. */
async function agreed(crew: CrewRun, all: Together, { round, words }: Agreed): Promise<Ending> {
  const { rounds, files } = all
  const summary = `Agreed in round ${round}: ${words}`
  await recordDecision(crew, {
    name: 'agreed',
    at: crew.flow.root(),
    by: crew.orchestrator.agentId,
    decision: {
      subject: 'approach',
      candidates: ['agreed', 'not_agreed'],
      choice: 'agreed',
      reason: words,
    },
  })
  const isAnswer = hasWords(all)
  const checks = requiredChecks(crew.input.crew.checks, undefined)
  if (checks.length === 0 || files.length === 0) return { outcome: 'approved', summary, isAnswer }
  const { base } = crew.input.repo
  const review = await reviewWork(crew, {
    number: 1,
    tasks: [],
    checks,
    base,
    commit: rounds.shared.commit,
  })
  return {
    outcome: review.verdict === 'approved' ? 'approved' : 'unapproved',
    summary: [summary, review.summary, ...review.reasons].join('\n'),
    isAnswer,
  }
}

type Limit = {
  readonly round: number
  readonly maxRounds: number
  readonly summary: string
  readonly words: string
}

/** What becomes of work that nobody agreed on: what the crew says, and what a person says where it says that. */
async function atLimit(crew: CrewRun, { round, maxRounds, summary, words }: Limit) {
  const { onMaxIterations } = crew.input.crew
  const at = crew.flow.root()
  await recordDecision(crew, {
    name: `limit-${round}`,
    at,
    by: crew.orchestrator.agentId,
    decision: {
      subject: 'approach',
      candidates: ['human_review', 'abort', 'force_approve'],
      choice: onMaxIterations,
      reason: `${round} of ${maxRounds} rounds are used up without an agreement: ${words}`,
    },
  })
  if (onMaxIterations !== 'human_review') return onMaxIterations
  const oneMore = 'each has another turn'
  const answer = await askAboutRounds(crew, { number: round, action: summary, oneMore })
  const said = answerDecision(answer)
  await recordDecision(crew, { name: `answered-${round}`, at, decision: said, by: 'operator' })
  return answer
}
