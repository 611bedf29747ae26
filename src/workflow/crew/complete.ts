import type { CrewReport } from '../../contract/collaboration/crew-report.ts'
import { crewReport } from '../../core/collaboration/crew-report.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Followed } from '../workflows.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import { landName } from './land.ts'
import { beforeEnding, fileChange, treeOf } from './places.ts'
import { refused } from './refused.ts'
import { closeSpare } from './spare-tree.ts'

/** What a crew gives in the end: its report, and the branch for a person to land. */
export type CrewResult = Partial<Followed> & { readonly report: CrewReport }

/** Makes the report, takes the work trees away, and leaves what is good to be landed. */
export async function complete(
  run: CrewRun,
  { outcome, summary }: Ending,
  beganMs: number,
): Promise<CrewResult> {
  const { repo, crew, request } = run.input
  const flow = run.flow
  const report = await run.stages.run('complete', { inputCount: run.tasks.size }, async (at) => {
    const final = await flow.step('report', async ({ signal, tell }) => {
      const { commit } = await run.parts.branches.head(run.path, signal)
      const { files } = await run.parts.branches.changes(run.path, { from: repo.base, to: commit }, signal)
      const nowMs = run.parts.clock.now()
      const usd = await costOf(run)
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
        rounds: run.rounds,
        tasks: [...run.tasks.values()],
        checks: run.checks,
        skipped: run.skipped,
        tokens: flow.spent().tokens,
        ...(usd !== null && { costUsd: usd }),
        durationMs: Math.max(0, nowMs - beganMs),
        phases: run.stages.took,
      })
      tell(draftOf({ ...at, actor: run.orchestrator }, 'result.summary', { summary: made.summary }))
      return made
    })
    // After the report is kept: it is made from what the work trees hold.
    await flow.step('tidy', ({ signal }) => tidy(run, signal))
    return { value: final, count: 1 }
  })
  const isGood = outcome === 'approved' || outcome === 'force_approved'
  if (!isGood || report.files.length === 0 || repo.into === null) return { report }
  const input = { root: repo.root, branch: run.branch, into: repo.into, workflowId: flow.id, summary }
  return { report, next: { procedure: landName, input } }
}

/** What it cost, as far as anybody tells; a report is worth more than its price. */
async function costOf({ parts, flow }: CrewRun): Promise<number | null> {
  try {
    return (await parts.budgets.used(flow.root().sessionId)).usd
  } catch (error) {
    parts.onBug(error, `the cost of ${flow.id}`)
    return null
  }
}

/** The work trees are not needed any more; branches of tasks whose work is in the crew's go with them. */
async function tidy(run: CrewRun, signal: AbortSignal): Promise<void> {
  const { branches, worktrees } = run.parts
  const { root } = run.input.repo
  for (const { path, branch } of await branches.worktreesIn(root, worktrees, signal))
    if (branch?.startsWith(`${run.branch}.`) && branch.endsWith(beforeEnding)) {
      const { commit } = await branches.head(path, signal)
      await closeSpare(run, { path, branch, commit }, signal).catch(refused)
    }
  for (const id of run.tasks.keys()) {
    await branches.closeWorktree(root, treeOf(worktrees, run.flow.id, id), signal).catch(refused)
    await branches.dropBranch(root, `${run.branch}.${id}`, signal).catch(refused)
  }
  await branches.closeWorktree(root, run.path, signal).catch(refused)
}
