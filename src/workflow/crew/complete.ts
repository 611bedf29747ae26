import type { CrewOutcome, CrewReport } from '../../contract/collaboration/crew-report.ts'
import type { FileChange } from '../../contract/session-file/outputs.ts'
import { type CrewHistory, crewReport } from '../../core/collaboration/crew-report.ts'
import {
  type ReportFacts,
  readReport,
  reportPrompt,
  reportWords,
} from '../../core/collaboration/final-report.ts'
import type { Used } from '../../core/ledger/budget.ts'
import { closeSpareTree, passRefusal } from '../../engine/delegation/spare-tree.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import type { ChangedFile } from '../../ports/workspace.ts'
import { consult, recordDecision, silenceOf } from './ask-architect.ts'
import { beforeEnding, treeOf } from './crew-parts.ts'
import type { CrewRun, Ending } from './crew-run.ts'

/** Makes the report and takes the work trees away. */
export function complete(crew: CrewRun, ending: Ending, beganMs: number): Promise<CrewReport> {
  const { flow, phases, state, orchestrator } = crew
  return phases.run('complete', { inputCount: state.tasks.size }, async (at) => {
    const history = await historyOf(crew, ending)
    const words = await inOwnWords(crew, at, crewReport(history))
    const value = await flow.step('report', async ({ tell }) => {
      const { usd, isEstimate = false } = await costOf(crew)
      const report = crewReport({
        ...history,
        ...(words && { words }),
        skipped: state.skipped,
        tokens: flow.spent().tokens,
        ...(usd !== null && { costUsd: usd, isEstimate }),
        durationMs: Math.max(0, crew.parts.clock.now() - beganMs),
      })
      const by = words ? orchestrator.agentId : at.actor
      const summary = words?.text ?? report.summary
      tell(draftOf({ ...at, actor: by }, 'result.summary', { summary, report }))
      return report
    })
    // After the report is kept: it is made from what the work trees hold.
    await flow.step('tidy', ({ signal }) => tidy(crew, signal))
    return { value, count: 1 }
  })
}

/** What happened, as git and the rounds show it; without the figures, which go on until the report is made. */
async function historyOf(crew: CrewRun, ending: Ending): Promise<CrewHistory> {
  const { input, flow, parts, path, branch, state, phases } = crew
  const { repo } = input
  const { commit, files } = await flow.step('made-in-all', async ({ signal }) => {
    const head = await parts.branches.head(path, signal)
    const made = await parts.branches.changes(path, { from: repo.base, to: head.commit }, signal)
    return { commit: head.commit, files: made.files.map(fileChange) }
  })
  const { outcome, summary } = files.length === 0 ? withoutWork(crew, ending) : ending
  return {
    crew: input.crew.name,
    workflowId: flow.id,
    request: input.request,
    outcome,
    summary,
    branch,
    base: repo.base,
    commit,
    files,
    rounds: state.rounds,
    tasks: [...state.tasks.values()],
    ...(state.ballots.length > 0 && { ballots: state.ballots }),
    ...(state.agreement && { agreement: state.agreement }),
    checks: state.checks,
    skipped: state.skipped,
    durationMs: 0,
    phases: phases.took,
  }
}

/** The report in the words of the architect; where it gives none, the crew's own stands, and that is said. */
async function inOwnWords(crew: CrewRun, at: FlowRoot, facts: ReportFacts): Promise<CrewReport['words']> {
  const { planner, flow, parts, state } = crew
  if (!planner) return undefined
  const mayAsk = await flow.step('within-limits', () => parts.isWithinLimits())
  const answered = mayAsk
    ? await consult(crew, planner, {
        at,
        asked: {
          name: 'final-report',
          prompt: reportPrompt(facts),
          read: (text) => readReport(text, facts),
          resultSchema: 'reply:report',
        },
      })
    : undefined
  const words = answered?.end.status === 'completed' ? reportWords(answered.end.text, facts) : undefined
  if (words) return { by: planner.id, text: words.text, disputed: [...words.disputed] }
  const why = answered ? silenceOf(answered) : 'a limit of the crew is reached'
  state.skipped.push({ what: `the report by ${planner.id}`, why })
  const reason = `${planner.id} gave no report that can be used (${why}), so it is made from the facts alone`
  const candidates = ['architect', 'facts']
  const decision = { subject: 'approach', candidates, choice: 'facts', reason } as const
  await recordDecision(crew, { name: 'decide-report', at, decision })
  return undefined
}

/** Whether a crew's work may land. */
export const isAccepted = (outcome: CrewOutcome): boolean =>
  outcome === 'approved' || outcome === 'force_approved'

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
