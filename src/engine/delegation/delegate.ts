import { acknowledgment } from '../../core/delegation/delegation-facts.ts'
import { brokenResult, type DelegationResult, resultOf } from '../../core/delegation/delegation-result.ts'
import { contractOf } from '../../core/delegation/reply-contract.ts'
import type { Branches } from '../../ports/branches.ts'
import { LimitReached, NotTheSame, type Steps, type WorkRoot } from '../../ports/durable.ts'
import type { FileChange } from '../../ports/tools.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { draftOf } from '../sessions/drafts.ts'
import { type Answered, askAgent } from './ask-agent.ts'
import {
  agentStep,
  anewIn,
  type Begun,
  type DelegationParts,
  delegationOf,
  type GivenWork,
  placeOf,
  stepName,
} from './given-work.ts'
import { type Collected, collectWork, folderOf, openPlace, type Place } from './place.ts'
import { assign, report } from './record-work.ts'
import { whileReporting } from './report-progress.ts'
import { checkWork } from './run-checks.ts'

/** What came of it. */
export type Delegated = DelegationResult & {
  readonly taskId: string
  readonly end: WorkEnd | undefined
  readonly start: string | undefined
}

/**
 * Gives work to an agent and sees it to its end: the assignment, the run, what its answer is worth, and the facts of
 * all that. Whatever throws ends the task as failed; a cancel and a reached limit pass through, and nothing is written.
 */
export async function delegate(parts: DelegationParts, steps: Steps, given: GivenWork): Promise<Delegated> {
  parts.talk.join(given.from)
  parts.talk.join({ agentId: given.to.agentId, agentType: given.to.role })
  const { place } = given
  const start =
    place.kind === 'shared'
      ? undefined
      : await steps.step(stepName(given, 'open'), ({ signal }) => openPlace(gitOf(parts), place, signal))
  const begun = { ...(await assign(parts, steps, given)), start }
  const { taskId } = begun.assignment
  const { spanId } = placeOf(steps, given, taskId)
  given.begun?.({ taskId, spanId, agentId: given.to.agentId, start })
  let end: WorkEnd | undefined
  try {
    const result = await whileWorking(parts, steps, { given, begun, ended: (how) => (end = how) })
    await report(parts, steps, { given, begun, result, step: 'end' })
    return { ...result, taskId, end, start }
  } catch (error) {
    if (steps.signal.aborted || error instanceof LimitReached || error instanceof NotTheSame) throw error
    // Who was given work always reports on it.
    const result = brokenResult(begun.assignment, error)
    await report(parts, steps, { given, begun, result, step: 'end-broken' })
    return { ...result, taskId, end, start }
  }
}

function gitOf({ branches }: DelegationParts): Branches {
  if (!branches) throw new Error('there is no git for this place')
  return branches
}

type Running = {
  readonly given: GivenWork
  readonly begun: Begun
  readonly ended: (end: WorkEnd) => void
}

/** From the hand-over to what came of it; who is at a task for long tells how it gets on. */
function whileWorking(parts: DelegationParts, steps: Steps, running: Running): Promise<DelegationResult> {
  const { given, begun, ended } = running
  const { place, from, to, progressMs } = given
  const { start, assignment } = begun
  const changed: string[] = []
  let isAtWork = true
  const act = async (): Promise<DelegationResult> => {
    const answered = await ask(parts, steps, { given, begun, changed })
    isAtWork = false
    ended(answered.end)
    return judged(parts, steps, { given, begun, answered })
  }
  if (assignment.kind !== 'developer') return act()
  const { clock, talk, onBug } = parts
  const reported = {
    taskId: assignment.taskId,
    from: from.agentId,
    to: to.agentId,
    everyMs: progressMs,
    isAtWork: () => isAtWork,
    async look(signal: AbortSignal) {
      if (place.kind === 'shared' || start === undefined)
        return { files: [...new Set(changed)], sign: `${changed.length}` }
      const { files, diff } = await gitOf(parts).changes(place.path, { from: start }, signal)
      return { files: files.map(({ path }) => path), sign: diff }
    },
  }
  return whileReporting({ clock, talk, steps, onBug }, reported, act)
}

type Asking = { readonly given: GivenWork; readonly begun: Begun; readonly changed: string[] }

/** Hands the work over and waits for its agent to end. */
function ask(
  parts: DelegationParts,
  steps: Steps,
  { given, begun, changed }: Asking,
): Promise<Answered<unknown>> {
  const { assignment, messageId, review } = begun
  const { taskId } = assignment
  const { allowed, to, about = taskId, contract = contractOf(assignment, review) } = given
  const acknowledge = (id: string) =>
    parts.talk.record(steps, { name: stepName(given, 'acknowledge'), ...anewIn(given) }, () => ({
      words: acknowledgment(delegationOf(given, assignment), id),
      value: null,
    }))
  return askAgent(parts, steps, {
    at: placeOf(steps, given, taskId),
    question: {
      ...contract,
      name: agentStep(given),
      who: to,
      prompt: given.prompt,
      folder: folderOf(given.place),
      scopes: allowed.scopes,
      tools: allowed.tools,
      timeoutMs: allowed.timeoutMs,
      taskId,
      about,
      messageId,
      changed: (paths) => void changed.push(...paths),
      ...(messageId !== undefined && { taken: () => acknowledge(messageId) }),
      options: anewIn(given),
    },
  })
}

type Judging = { readonly given: GivenWork; readonly begun: Begun; readonly answered: Answered<unknown> }

/** What an answer is worth: what git or its calls show of the work, and what its checks say when nothing else is wrong. */
async function judged(
  parts: DelegationParts,
  steps: Steps,
  { given, begun, answered }: Judging,
): Promise<DelegationResult> {
  const { place, review, checks } = given
  const { start } = begun
  if (place.kind === 'shared' || start === undefined)
    return resultOf(begun, { ...answered, ran: review?.ran, files: answered.end.seen?.changes ?? [] })
  const at = placeOf(steps, given, begun.assignment.taskId)
  const { files, outside, left, commit } = await collect(parts, steps, { given, at, place, start })
  const seen = { ...answered, files: files.map(changeOf), outside, left }
  const unchecked = resultOf(begun, seen)
  // Where nothing has changed the checks would show what was there before.
  if (!checks || unchecked.state !== 'completed' || files.length === 0 || commit === null) return unchecked
  if (!parts.checks) throw new Error('there is nobody to run checks')
  const ran = await checkWork({ branches: gitOf(parts), checks: parts.checks }, steps, {
    ...checks,
    at,
    start,
    commit,
    folder: folderOf(place),
  })
  return resultOf(begun, { ...seen, ran })
}

type Collecting = {
  readonly given: GivenWork
  readonly at: WorkRoot & { readonly taskId: string }
  readonly place: Exclude<Place, { readonly kind: 'shared' }>
  readonly start: string
}

/** Takes the work from its place; it is written down as one patch. */
const collect = (
  parts: DelegationParts,
  steps: Steps,
  { given, at, place, start }: Collecting,
): Promise<Collected> =>
  steps.step(stepName(given, 'collect'), async ({ signal, tell }) => {
    const { scopes } = given.allowed
    const found = await collectWork(gitOf(parts), { place, start, scopes }, signal)
    const { files, commit } = found
    if (files.length > 0)
      tell(
        draftOf({ ...at, actor: given.to.agentId }, 'patch.created', {
          files: files.map(changeOf),
          ...(commit && { commit }),
        }),
      )
    return found
  })

const changeOf = ({ path, change, added, removed }: ChangedFile): FileChange => ({
  path,
  change,
  ...(added !== null && { linesAdded: added }),
  ...(removed !== null && { linesRemoved: removed }),
})
