import { FlowStopped, type Procedure } from '../../ports/durable.ts'
import { type CrewResult, complete } from './complete.ts'
import type { CrewInput, CrewParts } from './crew-parts.ts'
import { CrewRun, type Ending } from './crew-run.ts'
import { leave, leaveAfterCancel } from './leave.ts'
import { pipelineFlow } from './pipeline-flow.ts'
import { plannedFlow } from './planned-flow.ts'
import { reviewFlow } from './review-flow.ts'

/** A collaboration: plan, work side by side, put together, review, and again until it is good; or another way through a crew. */
export const crewProcedure = (parts: CrewParts): Procedure<CrewInput, CrewResult> => ({
  name: 'crew',
  version: '2',
  async run(flow, input) {
    const run = await CrewRun.open(parts, flow, input)
    const { root, base } = input.repo
    const beganMs = await run.stages.run('receive', { inputCount: 1 }, async () => {
      const atMs = await flow.step('open', async ({ signal }) => {
        await parts.branches.openWorktree(root, { path: run.path, branch: run.branch, base }, signal)
        return parts.clock.now()
      })
      return { value: atMs, count: 1 }
    })
    try {
      return await complete(run, await flows[input.crew.flow](run), beganMs)
    } catch (error) {
      if (!flow.signal.aborted) await flow.step('discard', ({ signal }) => leave(run, signal))
      else if (isCancelled(flow.signal)) await leaveAfterCancel(run)
      throw error
    }
  },
})

const flows: Readonly<Record<CrewInput['crew']['flow'], (run: CrewRun) => Promise<Ending>>> = {
  planned: plannedFlow,
  one_task: plannedFlow,
  review: reviewFlow,
  pipeline: pipelineFlow,
}

/** What stops for the daemon goes on later, in the same work trees. */
const isCancelled = ({ reason }: AbortSignal): boolean =>
  reason instanceof FlowStopped && reason.how === 'cancelled'
