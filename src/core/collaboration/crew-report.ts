import type {
  Ballot,
  CheckRun,
  CrewOutcome,
  CrewReport,
  CrewRound,
  CrewTask,
  PeerAgreement,
  Skipped,
} from '../../contract/collaboration/crew-report.ts'
import type { FileChange, ReviewFinding } from '../../contract/session-file/outputs.ts'
import { openFindings } from '../delegation/judge-review.ts'
import { fenced } from '../delegation/prompt-parts.ts'
import { failedChecks } from '../delegation/required-checks.ts'
import { abstain, ballotWords } from './tally-votes.ts'

/** A task as it went, before anything is counted. */
export type DoneTask = Omit<CrewTask, 'lines_added' | 'lines_removed'>

/** All that happened in a collaboration. */
export type CrewHistory = {
  readonly crew: string
  readonly workflowId: string
  readonly request: string
  readonly outcome: CrewOutcome
  readonly summary: string
  /** The report in the words of the architect. */
  readonly words?: CrewReport['words']
  readonly branch?: string
  readonly base?: string
  readonly commit?: string
  /** What git shows between base and branch. */
  readonly files: readonly FileChange[]
  readonly rounds: readonly CrewRound[]
  readonly tasks: readonly DoneTask[]
  readonly ballots?: readonly Ballot[]
  readonly agreement?: PeerAgreement
  /** The checks of the last round. */
  readonly checks: readonly CheckRun[]
  readonly skipped?: readonly Skipped[]
  readonly costUsd?: number
  readonly isEstimate?: boolean
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
    ...(history.words && { words: history.words }),
    branch,
    base,
    commit,
    files: [...history.files],
    ...linesOf(history.files),
    rounds: [...history.rounds],
    ...(history.ballots && { ballots: [...history.ballots] }),
    ...(history.agreement && { agreement: history.agreement }),
    tasks: history.tasks.map((task) => ({ ...task, ...linesOf(task.files) })),
    checks: [...history.checks],
    findings: settledFindings(history.rounds),
    skipped: [...(history.skipped ?? []), ...notDone(history)],
    cost_usd: costUsd,
    ...(history.isEstimate && { cost_is_estimate: true }),
    tokens,
    duration_ms: history.durationMs,
    phases: history.phases.map(({ phase, durationMs }) => ({ phase, duration_ms: durationMs })),
  }
}

/** Findings by what became of them: open when the last word on them is a finding, fixed otherwise. */
export function settledFindings(rounds: readonly CrewRound[]): CrewReport['findings'] {
  const open = new Map<string, ReviewFinding>()
  const mended = new Map<string, ReviewFinding>()
  const mend = (finding: ReviewFinding, round: number): void => {
    open.delete(finding.finding_id)
    mended.set(finding.finding_id, { ...finding, fixed_in_iteration: finding.fixed_in_iteration ?? round })
  }
  for (const { number, findings, addressed } of rounds) {
    const again = new Set(openFindings(findings).map((finding) => finding.finding_id))
    for (const finding of open.values()) {
      // Silence fixes what is not critical; a critical finding is open until somebody says otherwise.
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

/** The report as a person reads it: verdict and branch first, then what changed, then what stays open. */
export function reportMarkdown(report: CrewReport): string {
  const { findings, skipped } = report
  const parts = [
    `# ${outcomeWords[report.outcome]}: ${line(report.request, 100)}`,
    head(report),
    (report.words?.text ?? report.summary).trim().replaceAll(/^#/gm, '\\#'),
    section(
      'What the facts do not bear out',
      (report.words?.disputed ?? []).map((claim) => `- ${line(claim)}`),
    ),
    section('Still open', [
      ...findings.open.map(findingLine),
      ...failedChecks(report.checks)
        .filter(({ passed }) => passed === false)
        .map(checkLine),
      ...report.tasks.filter(({ state }) => state === 'partial' || state === 'failed').map(taskLine),
      ...skipped.map(skippedLine),
    ]),
    ...(report.agreement ? [agreementSection(report.agreement)] : []),
    section('Votes', (report.ballots ?? []).flatMap(ballotLines)),
    section(report.ballots ? 'Who was asked' : 'What changed', report.tasks.flatMap(taskLines)),
    section('Checks', report.checks.map(checkLine)),
    section('Reviews', report.rounds.map(roundLine)),
    section('Fixed along the way', findings.mended.map(findingLine)),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const outcomeWords = {
  approved: 'Approved',
  force_approved: 'Approved by decision, not by review',
  unapproved: 'Not approved',
  aborted: 'Stopped',
  failed: 'Failed',
  cancelled: 'Called off',
} as const

function head(report: CrewReport): string {
  const { branch, base, commit, cost_usd: cost, tokens } = report
  const from = base === null ? '' : ` on ${line(base.slice(0, 12))}`
  const facts = [
    branch === null
      ? 'No branch was made.'
      : `Branch \`${line(branch)}\`${commit === null ? '' : ` at ${line(commit.slice(0, 12))}`}${from}; nothing was merged.`,
    `${count(report.files.length, 'file')}, +${report.lines_added} −${report.lines_removed}; ${count(report.rounds.length, 'review')}; ${duration(report.duration_ms)}`,
  ]
  const spent = [
    ...(cost === null ? [] : [`${report.cost_is_estimate ? '≈' : ''}$${cost.toFixed(2)}`]),
    ...(tokens === null ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
  ]
  return [...facts.slice(0, 1), [...facts.slice(1), ...spent].join('; ')].join('\n')
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`

const mostFiles = 20

function taskLine({ task_id, title, state, because }: CrewTask): string {
  return `- **${line(task_id)}** ${line(title)}: ${state}${because === undefined ? '' : `: ${line(because)}`}`
}

function taskLines(task: CrewTask): string[] {
  const more = task.files.length - mostFiles
  return [
    taskLine(task),
    ...task.files.slice(0, mostFiles).map((file) => `  - ${fileLine(file)}`),
    ...(more > 0 ? [`  - and ${count(more, 'file')} more`] : []),
    ...(task.blockers ?? []).map((blocker) => `  - blocked: ${line(blocker)}`),
  ]
}

function fileLine({
  path,
  change_type: kind,
  lines_added: added,
  lines_removed: removed,
}: FileChange): string {
  const lines = added === undefined && removed === undefined ? '' : ` +${added ?? 0} −${removed ?? 0}`
  return `\`${line(path)}\` ${kind ?? 'modified'}${lines}`
}

function checkLine({ name, command, required, passed, because }: CheckRun): string {
  const result = passed === null ? 'not run' : passed ? 'passed' : 'failed'
  const why = because === undefined ? '' : `: ${line(because)}`
  return `- ${line(name)}${command === undefined ? '' : ` (\`${line(command)}\`)`}: ${result}${why}${required ? '' : ', not required'}`
}

function ballotLines(ballot: Ballot): string[] {
  const votes = ballot.votes.map(
    ({ voter, choice, reason }) => `  - ${line(voter)}: ${line(choice ?? abstain)}: ${line(reason)}`,
  )
  return [`${ballot.number}. ${line(ballotWords(ballot))}`, ...votes]
}

function agreementSection({ agreed, version, board, members }: PeerAgreement): string {
  const stands = members.map(
    ({ agent_id, version: own }) =>
      `- ${line(agent_id)}: ${own === null ? 'does not agree' : `agrees with version ${own}`}`,
  )
  const words = board.trim() === '' ? [] : [`\n${fenced(board.trim())}`]
  const title = agreed ? `Agreed on version ${version}` : `Not agreed on version ${version}`
  return section(title, [...stands, ...words])
}

function roundLine({ number, verdict, said, reasons, summary }: CrewReport['rounds'][number]): string {
  const instead = said === undefined || said === verdict ? '' : ` (the reviewer said ${said})`
  const why = reasons.length === 0 ? '' : `; ${reasons.map((each) => line(each)).join('; ')}`
  return `${number}. ${verdict}${instead}: ${line(summary)}${why}`
}

function findingLine({ severity, file, line: at, description }: ReviewFinding): string {
  const place = file === '' ? '' : ` \`${line(file)}${at === undefined ? '' : `:${at}`}\``
  return `- ${severity}${place}: ${line(description)}`
}

const skippedLine = ({ what, why }: CrewReport['skipped'][number]): string =>
  `- not done: ${line(what)}: ${line(why)}`

/** A text on one line, short enough to be read, that cannot begin anything new in Markdown. */
function line(text: string, most = 300): string {
  const flat = text.replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim()
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
