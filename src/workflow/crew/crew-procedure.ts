import { AppError } from '../../contract/errors.ts'
import { crewShortfall } from '../../core/collaboration/workflow-outcome.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { FlowStopped, LimitReached, type Procedure } from '../../ports/durable.ts'
import { Allowance } from '../allowance.ts'
import { type CrewResult, complete } from './complete.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'
import { CrewRun, type Ending, talkOf } from './crew-run.ts'
import { keepTime } from './keep-time.ts'
import { leave, leaveAfterCancel, patienceMs, salvage } from './leave.ts'
import { pipelineFlow } from './pipeline-flow.ts'
import { crewsOf } from './places.ts'
import { plannedFlow } from './planned-flow.ts'
import { reviewFlow } from './review-flow.ts'

/** A collaboration: plan, work side by side, put together, review, and again until it is good; or another way through a crew. */
export const crewProcedure = (parts: CrewParts): Procedure<CrewInput, CrewResult> => {
  /** What is being said in crews that run here. */
  const talks = new Map<string, Conversation>()
  return {
    name: 'crew',
    version: '4',
    unforkable:
      "its work is in work trees and branches of that run; merge the ones you want (git branch --list 'muster/<workflow>*') and start another: sm crew",
    failure: ({ report }) => crewShortfall(report),
    leftovers: {
      ids: async () => crewsOf(await parts.treeNames()),
      putAway: (id, input) => leave({ parts, input, flow: { id } }, AbortSignal.timeout(patienceMs)),
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
      const run = await CrewRun.open(
        { ...parts, workers: allowance, checks, stopAll: allowance.failed },
        flow,
        input,
      )
      const { root, base } = input.repo
      const beganMs = await run.stages.run('receive', { inputCount: 1 }, async () => {
        const atMs = await flow.step('open', async ({ signal }) => {
          await parts.branches.openWorktree(root, { path: run.path, branch: run.branch, base }, signal)
          return parts.clock.now()
        })
        return { value: atMs, count: 1 }
      })
      const over = new AbortController()
      const { minutes } = input.crew.budget ?? {}
      if (minutes !== undefined)
        keepTime(parts, flow, { limitMs: minutes * 60_000, signal: over.signal }).then(
          () => allowance.late(minutes),
          (error: unknown) => {
            if (!over.signal.aborted) parts.onBug(error, `the time of ${flow.id}`)
          },
        )
      talks.set(flow.id, run.talk)
      try {
        return await complete(run, await flows[input.crew.flow](run), beganMs)
      } catch (error) {
        if (flow.signal.aborted) {
          if (isCancelled(flow.signal)) await leaveAfterCancel(run)
          throw error
        }
        // All are stopped by a limit, and what they leave is looked at when they are gone.
        if (error instanceof LimitReached) await flow.quiet()
        const left = await flow.step(`discard ${flow.id}`, async ({ signal }) => {
          const partial = error instanceof LimitReached ? await salvage(run, signal) : null
          await leave(run, signal)
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

const flows: Readonly<Record<CrewInput['crew']['flow'], (run: CrewRun) => Promise<Ending>>> = {
  planned: plannedFlow,
  one_task: plannedFlow,
  review: reviewFlow,
  pipeline: pipelineFlow,
}

/** What stops for the daemon goes on later, in the same work trees. */
const isCancelled = ({ reason }: AbortSignal): boolean =>
  reason instanceof FlowStopped && reason.how === 'cancelled'
