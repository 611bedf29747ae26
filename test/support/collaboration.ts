import type { CheckRun, CrewRound } from '../../src/contract/collaboration/crew-report.ts'
import type { PlanTask, ReviewerReply } from '../../src/contract/collaboration/replies.ts'
import type { ReviewFinding } from '../../src/contract/session-file/outputs.ts'

/** A task of a plan; what it depends on by name is hard, with a `~` in front soft. */
export const planTask = (
  task_id: string,
  needs: readonly string[] = [],
  more: Partial<PlanTask> = {},
): PlanTask => ({
  task_id,
  title: `Do ${task_id}`,
  description: `All of ${task_id}.`,
  scope: [`src/${task_id}/**`],
  depends_on: needs.map((name) =>
    name.startsWith('~') ? { task_id: name.slice(1), type: 'soft' } : { task_id: name, type: 'hard' },
  ),
  acceptance_criteria: [`${task_id} works`],
  priority: 'medium',
  testing_required: true,
  ...more,
})

/** A finding of a review. */
export const reviewFinding = (finding_id: string, more: Partial<ReviewFinding> = {}): ReviewFinding => ({
  finding_id,
  severity: 'major',
  category: 'bug',
  file: '',
  description: `what ${finding_id} found`,
  ...more,
})

/** A required check that passed. */
export const checkRun = (name: string, more: Partial<CheckRun> = {}): CheckRun => ({
  name,
  command: `run ${name}`,
  required: true,
  passed: true,
  ...more,
})

/** An approval without a finding. */
export const reviewReply = (more: Partial<ReviewerReply> = {}): ReviewerReply => ({
  verdict: 'approved',
  summary: 'It does what was asked.',
  findings: [],
  ...more,
})

/** A review in a report. */
export const crewRoundOf = (number: number, more: Partial<CrewRound> = {}): CrewRound => ({
  number,
  verdict: 'changes_requested',
  reasons: [],
  summary: `review ${number}`,
  findings: [],
  addressed: [],
  ...more,
})
