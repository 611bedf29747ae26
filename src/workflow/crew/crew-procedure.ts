import type { CrewReport } from '../../contract/collaboration/crew-report.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import { usualTokens } from '../../core/collaboration/crew-effort.ts'
import { crewShortfall, landShortfall } from '../../core/collaboration/workflow-outcome.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { type Flow, FlowStopped, LimitReached, type Procedure } from '../../ports/durable.ts'
import { Allowance } from '../allowance.ts'
import { tellApproved, tellCreated, whoBegan } from '../creation.ts'
import { complete } from './complete.ts'
import { consensusFlow } from './consensus-flow.ts'
import { pipelineFlow, reviewFlow } from './crew-flows.ts'
import { type CrewInput, type CrewParts, crewsOf } from './crew-parts.ts'
import { CrewRun, type Ending, talkOf } from './crew-run.ts'
import { keepTime } from './keep-time.ts'
import { type Landed, land } from './land.ts'
import { peerFlow } from './peer-flow.ts'
import { plannedFlow } from './planned-flow.ts'
import { collectLeft, putAway, putAwayAfterCancel, putAwayMs } from './put-away.ts'

/** What a crew gives in the end: its report, and what came of landing its branch where there was something to land. */
type CrewResult = Partial<Landed> & { readonly report: CrewReport }

/** A collaboration: plan, work side by side, put together, review, and again until it is good; or another way through a crew. */
export const crewProcedure = (parts: CrewParts): Procedure<CrewInput, CrewResult> => {
  /** What is being said in crews that run here. */
  const talks = new Map<string, Conversation>()
  return {
    name: 'crew',
    version: '6',
    unforkable:
      "its work is in work trees and branches of that run; merge the ones you want (git branch --list 'muster/<workflow>*') and start another: sm crew",
    failure: ({ report, landed, why }) =>
      crewShortfall(report) ?? (landed === null ? landShortfall({ landed, why }) : undefined),
    leftovers: {
      ids: async () => crewsOf(await parts.treeNames()),
      putAway: (id, input) => putAway({ parts, input, flow: { id } }, AbortSignal.timeout(putAwayMs)),
    },
    async closing({ root, input }, reason, write) {
      const { workflowId: id } = root
      // What is written counts: a word that a stop came before was said to nobody.
      const lastWords = async () => {
        const talk = await talkOf(parts, { id, root: () => root }, input)
        await talk.callOffNow(root, { reason }, write)
      }
      await (talks.get(id)?.silently(lastWords) ?? lastWords())
    },
    async run(flow, input) {
      using allowance = new Allowance(parts, flow)
      const checks = allowance.checks(parts.checks)
      const approved = await begin(parts, flow, input)
      const within = {
        ...parts,
        workers: allowance,
        checks,
        stopAll: allowance.failed,
        isWithinLimits: allowance.isWithinLimits,
        approved,
      }
      const crew = await CrewRun.open(within, flow, input)
      const over = new AbortController()
      talks.set(flow.id, crew.talk)
      try {
        const beganMs = await receive(crew)
        keepMinutes(crew, allowance, over.signal)
        const report = await complete(crew, await flows[input.crew.flow](crew), beganMs)
        // Its time is for work: somebody may take as long as they like to land it.
        over.abort()
        return { report, ...(await land(crew, report)) }
      } catch (error) {
        if (flow.signal.aborted) {
          if (isCancelled(flow.signal)) await putAwayAfterCancel(crew)
          throw error
        }
        // All are stopped by a limit, and what they leave is looked at when they are gone.
        if (error instanceof LimitReached) await flow.quiet()
        const left = await flow.step(`discard ${flow.id}`, async ({ signal }) => {
          const partial = error instanceof LimitReached ? await collectLeft(crew, signal) : null
          await putAway(crew, signal)
          return partial
        })
        if (!(error instanceof LimitReached)) throw error
        await allowance.close(error)
        throw new AppError(error.code, error.message, { cause: error, details: { partial: left } })
      } finally {
        over.abort()
        talks.delete(flow.id)
      }
    },
  }
}

/** Writes what the crew is for and who let it begin; what it does hangs under that. */
async function begin(parts: CrewParts, flow: Flow, { request, crew, repo }: CrewInput): Promise<SpanId> {
  const estimatedTokens = await flow.step('estimate', async () => usualTokens(await parts.earlier()) ?? null)
  const created = await tellCreated(flow, {
    name: crew.name,
    script: request,
    phases: [...phases[crew.flow], ...(repo.into === null || crew.flow === 'review' ? [] : ['land'])],
    fanOut: fanOut(crew),
    ...(estimatedTokens !== null && { estimatedTokens }),
  })
  const { sessionId } = flow.root()
  const { spanId } = await tellApproved(flow, {
    clock: parts.clock,
    created,
    by: async () => ({
      approvedBy: await whoBegan(parts.events(sessionId, ['session.started'])),
      reason: crew.approvePlan ? askedLater : unasked,
    }),
  })
  return spanId
}

const unasked = 'nobody was asked: approve_plan is off, so whoever started the crew approved it'
const askedLater = 'whoever started the crew approved that it begins; its plan is asked about'

/** How many may work at a time. */
function fanOut({ flow, members, limits }: CrewInput['crew']): number {
  const count = (duty: string) =>
    members.filter((one) => one.duty === duty).reduce((sum, one) => sum + Math.max(1, one.count), 0)
  if (flow === 'pipeline' || flow === 'peer_to_peer') return 1
  if (flow === 'consensus') return count('vote')
  return flow === 'review' ? count('review') : Math.min(limits.maxParallel, count('work'))
}

const planned = [
  'receive',
  'analyze',
  'plan',
  'delegate',
  'collect',
  'integrate',
  'review',
  'iterate',
  'complete',
] as const

const phases: Readonly<Record<CrewInput['crew']['flow'], readonly string[]>> = {
  planned,
  one_task: planned,
  review: ['receive', 'review', 'complete'],
  pipeline: ['receive', 'delegate', 'review', 'complete'],
  peer_to_peer: ['receive', 'delegate', 'review', 'complete'],
  consensus: ['receive', 'vote', 'complete'],
}

/** Makes the place in which everything comes together; answers when that was. */
function receive({ phases: all, flow, parts, input, path, branch }: CrewRun): Promise<number> {
  const { root, base } = input.repo
  return all.run('receive', { inputCount: 1 }, async () => {
    const atMs = await flow.step('open', async ({ signal }) => {
      await parts.branches.openWorktree(root, { path, branch, base }, signal)
      return parts.clock.now()
    })
    return { value: atMs, count: 1 }
  })
}

function keepMinutes({ parts, flow, input }: CrewRun, allowance: Allowance, signal: AbortSignal): void {
  const { minutes } = input.crew.budget ?? {}
  if (minutes === undefined) return
  keepTime(parts, flow, { limitMs: minutes * 60_000, signal }).then(
    () => allowance.late(minutes),
    (error: unknown) => {
      if (!signal.aborted) parts.onBug(error, `the time of ${flow.id}`)
    },
  )
}

const flows: Readonly<Record<CrewInput['crew']['flow'], (crew: CrewRun) => Promise<Ending>>> = {
  planned: plannedFlow,
  one_task: plannedFlow,
  review: reviewFlow,
  pipeline: pipelineFlow,
  peer_to_peer: peerFlow,
  consensus: consensusFlow,
}

/** What stops for the daemon goes on later, in the same work trees. */
const isCancelled = ({ reason }: AbortSignal): boolean =>
  reason instanceof FlowStopped && reason.how === 'cancelled'
