import type {
  CheckRun,
  CrewOutcome,
  CrewReport,
  CrewRound,
  CrewTask,
  Skipped,
} from '../../../contract/collaboration/crew-report.ts'
import type { FileChange, ReviewFinding } from '../../../contract/session-file/outputs.ts'
import { openOf } from '../judge-review.ts'

/** A task as it went, before anything is counted. */
export type DoneTask = Omit<CrewTask, 'lines_added' | 'lines_removed'>

/** All that happened in a collaboration. */
export type CrewHistory = {
  readonly crew: string
  readonly workflowId: string
  readonly request: string
  readonly outcome: CrewOutcome
  readonly summary: string
  readonly branch?: string
  readonly base?: string
  readonly commit?: string
  /** What git shows between base and branch. */
  readonly files: readonly FileChange[]
  readonly rounds: readonly CrewRound[]
  readonly tasks: readonly DoneTask[]
  /** The checks of the last round. */
  readonly checks: readonly CheckRun[]
  readonly skipped?: readonly Skipped[]
  readonly costUsd?: number
  readonly tokens?: number
  readonly durationMs: number
  readonly phases: readonly { readonly phase: string; readonly durationMs: number }[]
}

/** The final report: what happened, with nothing that is open left out. */
export function crewReport(history: CrewHistory): CrewReport {
  const { branch = null, base = null, commit = null, costUsd = null, tokens = null } = history
  return {
    crew: history.crew,
    workflow_id: history.workflowId,
    request: history.request,
    outcome: history.outcome,
    summary: history.summary,
    branch,
    base,
    commit,
    files: [...history.files],
    ...linesOf(history.files),
    rounds: [...history.rounds],
    tasks: history.tasks.map((task) => ({ ...task, ...linesOf(task.files) })),
    checks: [...history.checks],
    findings: settledFindings(history.rounds),
    skipped: [...(history.skipped ?? []), ...notDone(history)],
    cost_usd: costUsd,
    tokens,
    duration_ms: history.durationMs,
    phases: history.phases.map(({ phase, durationMs }) => ({ phase, duration_ms: durationMs })),
  }
}

/** Findings by what became of them: open when the last word on them is a finding, mended otherwise. */
export function settledFindings(rounds: readonly CrewRound[]): CrewReport['findings'] {
  const open = new Map<string, ReviewFinding>()
  const mended = new Map<string, ReviewFinding>()
  const mend = (finding: ReviewFinding, round: number): void => {
    open.delete(finding.finding_id)
    mended.set(finding.finding_id, { ...finding, fixed_in_iteration: finding.fixed_in_iteration ?? round })
  }
  for (const { number, findings, addressed } of rounds) {
    const again = new Set(openOf(findings).map((finding) => finding.finding_id))
    for (const finding of open.values()) {
      // Silence mends what is not critical; a critical finding is open until somebody says otherwise.
      const isSettled = addressed.includes(finding.finding_id) || finding.severity !== 'critical'
      if (!again.has(finding.finding_id) && isSettled) mend(finding, number)
    }
    for (const finding of findings) {
      if (!again.has(finding.finding_id)) {
        mend(finding, number)
        continue
      }
      mended.delete(finding.finding_id)
      open.set(finding.finding_id, finding)
    }
  }
  return { open: [...open.values()], mended: [...mended.values()] }
}

function linesOf(files: readonly FileChange[]): { lines_added: number; lines_removed: number } {
  const sum = (key: 'lines_added' | 'lines_removed') =>
    files.reduce((lines, file) => lines + (file[key] ?? 0), 0)
  return { lines_added: sum('lines_added'), lines_removed: sum('lines_removed') }
}

/** Checks that did not run and tasks that never started. */
function notDone({ checks, tasks }: CrewHistory): Skipped[] {
  return [
    ...checks
      .filter(({ passed }) => passed === null)
      .map(({ name, because = 'nobody said why' }) => ({ what: `check ${name}`, why: because })),
    ...tasks
      .filter(({ state }) => state === 'pending' || state === 'cancelled')
      .map(({ task_id, because = 'nobody said why' }) => ({ what: `task ${task_id}`, why: because })),
  ]
}
