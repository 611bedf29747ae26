import type { CrewReport } from '../../contract/collaboration/crew-report.ts'
import { ReportReply } from '../../contract/collaboration/replies.ts'
import { fenced, fencedJson, howToAnswer } from '../delegation/prompt-parts.ts'
import { type ReplyResult, readReply } from '../delegation/read-reply.ts'
import { findingWords } from '../delegation/reviewer-work.ts'

/** What a report is made from: what happened, without figures that change while it is written. */
export type ReportFacts = Pick<
  CrewReport,
  'request' | 'outcome' | 'summary' | 'files' | 'rounds' | 'tasks' | 'checks' | 'findings' | 'skipped'
>

/** Asks an architect for the final report. */
export const reportPrompt = (facts: ReportFacts): string =>
  [
    `You are the architect of a crew. The work is over; write the final report for whoever asked for it. Do not change any file.`,
    `The request:\n\n${fenced(facts.request)}`,
    `What happened, as it was recorded:\n\n${fencedJson({
      outcome: facts.outcome,
      why: facts.summary,
      tasks: facts.tasks.map(({ task_id: id, title, state, because }) => ({ id, title, state, because })),
      files: facts.files.map(({ path, change_type }) => `${change_type ?? 'modified'} ${path}`),
      reviews: facts.rounds.map(({ number, verdict, summary }) => ({ number, verdict, summary })),
      checks: facts.checks.map(({ name, passed, because }) => ({ name, passed, because })),
      open_findings: facts.findings.open.map(findingWords),
      skipped: facts.skipped,
    })}`,
    howToAnswer(shapeFor(facts)),
    '`summary` is the report, in your own words: what is true now, what was decided, and what is left. `completed` names the tasks that are complete, `open` the tasks and findings that are not settled; both by their ids. `checks_passed` is left out when no check was run. Each is compared with what was recorded.',
  ].join('\n\n')

const shapeFor = (facts: ReportFacts) => ({
  summary: '<the report>',
  outcome: facts.outcome,
  completed: ['<task_id>'],
  open: ['<task_id or finding_id>'],
  checks_passed: true,
})

/** An architect's report whose claims are those of the facts. */
export const readReport = (words: string, facts: ReportFacts): ReplyResult<ReportReply> =>
  readReply(words, { schema: ReportReply, check: (reply) => disputedClaims(reply, facts) })

/** The report in its words, with what the facts do not bear out beside it; nothing where there are no words to read. */
export function reportWords(
  text: string,
  facts: ReportFacts,
): { readonly text: string; readonly disputed: readonly string[] } | undefined {
  const read = readReply(text, { schema: ReportReply })
  return 'value' in read
    ? { text: read.value.summary, disputed: disputedClaims(read.value, facts) }
    : undefined
}

/** What a report claims and the facts do not bear out. */
function disputedClaims(reply: ReportReply, facts: ReportFacts): string[] {
  const completed = facts.tasks.filter(({ state }) => state === 'completed').map(({ task_id }) => task_id)
  const open = [
    ...facts.findings.open.map(({ finding_id }) => finding_id),
    ...facts.tasks
      .filter(({ state }) => state === 'partial' || state === 'failed')
      .map(({ task_id }) => task_id),
  ]
  // A task that a later revision has completed may be called either.
  const settled = new Set(facts.outcome === 'approved' ? facts.tasks.map(({ task_id }) => task_id) : [])
  return [
    ...(reply.outcome === facts.outcome
      ? []
      : [`outcome: the report says ${reply.outcome}; it is ${facts.outcome}`]),
    ...reply.completed
      .filter((id) => !completed.includes(id) && !settled.has(id))
      .map((id) => `completed: ${id} is not complete`),
    ...open
      .filter((id) => !reply.open.includes(id) && !settled.has(id))
      .map((id) => `open: ${id} is not settled, and the report leaves it out`),
    ...reply.open
      .filter((id) => !open.includes(id) && completed.includes(id))
      .map((id) => `open: ${id} is complete`),
    ...checksProblem(reply, facts),
  ]
}

function checksProblem({ checks_passed: said }: ReportReply, { checks }: ReportFacts): string[] {
  const ran = checks.filter(({ passed }) => passed !== null)
  const passed = ran.every((check) => check.passed)
  if (said === undefined || (ran.length > 0 && said === passed)) return []
  if (ran.length === 0) return ['checks_passed: no check was run; leave it out']
  return [`checks_passed: the report says ${said}; ${passed ? 'all' : 'not all'} that were run passed`]
}
