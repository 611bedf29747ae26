import type { CrewOutcome, CrewReport } from '../../contract/collaboration/crew-report.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import { crewReport } from '../../core/collaboration/crew-report.ts'
import type { Used } from '../../core/ledger/budget.ts'
import { closeSpareTree, passRefusal } from '../../engine/delegation/spare-tree.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import type { Followed } from '../workflows.ts'
import { beforeEnding, treeOf } from './crew-parts.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { landName } from './land.ts'

/** What a crew gives in the end: its report, and the branch for a person to land. */
export type CrewResult = Partial<Followed> & { readonly report: CrewReport }

/** Makes the report, takes the work trees away, and leaves what is good to be landed. */
export async function complete(run: CrewRun, ending: Ending, beganMs: number): Promise<CrewResult> {
  const { repo, crew, request } = run.input
  const flow = run.flow
  const report = await run.phases.run('complete', { inputCount: run.state.tasks.size }, async (at) => {
    const final = await flow.step('report', async ({ signal, tell }) => {
      const { commit } = await run.parts.branches.head(run.path, signal)
      const { files } = await run.parts.branches.changes(run.path, { from: repo.base, to: commit }, signal)
      const { outcome, summary } = files.length === 0 ? withoutWork(run, ending) : ending
      const nowMs = run.parts.clock.now()
      const { usd, isEstimate = false } = await costOf(run)
      const made = crewReport({
        crew: crew.name,
        workflowId: flow.id,
        request,
        outcome,
        summary,
        branch: run.branch,
        base: repo.base,
        commit,
        files: files.map(fileChange),
        rounds: run.state.rounds,
        tasks: [...run.state.tasks.values()],
        ...(run.state.ballots.length > 0 && { ballots: run.state.ballots }),
        ...(run.state.agreement && { agreement: run.state.agreement }),
        checks: run.state.checks,
        skipped: run.state.skipped,
        tokens: flow.spent().tokens,
        ...(usd !== null && { costUsd: usd, isEstimate }),
        durationMs: Math.max(0, nowMs - beganMs),
        phases: run.phases.took,
      })
      tell(draftOf({ ...at, actor: run.orchestrator.agentId }, 'result.summary', { summary: made.summary }))
      return made
    })
    // After the report is kept: it is made from what the work trees hold.
    await flow.step('tidy', ({ signal }) => tidy(run, signal))
    return { value: final, count: 1 }
  })
  if (!isAccepted(report.outcome) || report.files.length === 0 || repo.into === null) return { report }
  const input = {
    root: repo.root,
    branch: run.branch,
    into: repo.into,
    workflowId: flow.id,
    summary: report.summary,
  }
  return { report, next: { procedure: landName, input } }
}

/** Whether a crew's work may land. */
const isAccepted = (outcome: CrewOutcome): boolean => outcome === 'approved' || outcome === 'force_approved'

/** Nobody is told that a request was carried out when nothing changed, unless it was to be answered in words. */
function withoutWork({ input }: CrewRun, { outcome, summary, isAnswer }: Ending): Ending {
  if (input.crew.flow === 'review' || isAnswer || !isAccepted(outcome)) return { outcome, summary }
  return { outcome: 'failed', summary: `Nothing was changed. ${summary}` }
}

/** What it cost, as far as anybody tells; a report is worth more than its price. */
async function costOf({ parts, flow }: CrewRun): Promise<Pick<Used, 'usd' | 'isEstimate'>> {
  try {
    return await parts.budgets.used(flow.root().sessionId)
  } catch (error) {
    parts.onBug(error, `the cost of ${flow.id}`)
    return { usd: null }
  }
}

/** The work trees are not needed any more; branches of tasks whose work is in the crew's go with them. */
async function tidy(run: CrewRun, signal: AbortSignal): Promise<void> {
  const { branches, worktrees } = run.parts
  const { root } = run.input.repo
  for (const { path, branch } of await branches.worktreesIn(root, worktrees, signal))
    if (branch?.startsWith(`${run.branch}.`) && branch.endsWith(beforeEnding)) {
      const { commit } = await branches.head(path, signal)
      await closeSpareTree(branches, { root, path, branch, commit }, signal).catch(passRefusal)
    }
  for (const id of run.state.tasks.keys()) {
    await branches.closeWorktree(root, treeOf(worktrees, run.flow.id, id), signal).catch(passRefusal)
    await branches.dropBranch(root, `${run.branch}.${id}`, signal).catch(passRefusal)
  }
  await branches.closeWorktree(root, run.path, signal).catch(passRefusal)
}

/** A changed file as session files know it. */
export const fileChange = ({ path, change, added, removed }: ChangedFile): FileChange => ({
  path,
  change_type: change,
  ...(added !== null && { lines_added: added }),
  ...(removed !== null && { lines_removed: removed }),
})
