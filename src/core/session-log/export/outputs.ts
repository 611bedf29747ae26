import type { DeveloperOutput, FileChange } from '../../../contract/formats/std-008/developer.ts'
import type { ReviewerOutput, ReviewFinding } from '../../../contract/formats/std-008/reviewer.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { filesChangedBy, foldEffects } from '../changed-files.ts'
import { root } from '../json/pointer.ts'
import { compact, isRecord } from '../json/value.ts'
import { endWord } from '../rebuild/ending.ts'
import { textOf } from '../rebuild/recorded.ts'
import { subSessionOutput } from '../repair/outputs.ts'
import type { OwnerRecord } from './owner-record.ts'

type Output = Pick<SubAgentSession, 'output' | 'original_output'>

/** What an agent gave back. Its own words are put into the file's shape; where it gave none, its records speak. */
export function outputOf(owner: OwnerRecord, sub: SubAgentSession): Output {
  const { reported, ended } = owner
  if (!ended && !reported) return {}
  const answered = ended && 'output' in ended.event.payload ? ended.event.payload.output : undefined
  const given = reported ? reported.payload.payload : answered
  const fields = { record: { task: sub.task, output: given }, place: root, log: () => {} }
  if (isRecord(given)) subSessionOutput(fields)
  const { output, original_output } = fields.record as Output
  const own = isRecord(given) ? output : undefined
  const isWork = own !== undefined && 'changes' in own
  const beside = compact({
    original_output: isRecord(given) || given === undefined ? original_output : given,
  })
  if (reported && isWork) return { output: own }
  if (own && !isWork) return { output: withFindings(own as ReviewerOutput, owner), ...beside }
  if (sub.agent.agent_type === 'reviewer') return beside
  const made = developerOutput(owner, sub)
  const isFailed = sub.status === 'failed'
  // The file joins an output to its task by this id, whatever the agent called it.
  const fixed = { task_id: made.task_id, ...(isFailed ? { status: 'failed' as const } : {}) }
  return { output: { ...made, ...own, ...fixed }, ...beside }
}

/** What a developer must have done, from its calls and patches. */
function developerOutput(owner: OwnerRecord, sub: SubAgentSession): DeveloperOutput {
  const files = owner.effects.length > 0 ? foldEffects(owner.effects) : filesChangedBy(sub.tool_calls)
  const change = (path: string): FileChange => ({ path })
  const event = owner.ended?.event
  const said = event && 'detail' in event.payload ? event.payload.detail : undefined
  const reason = event?.payload.reason
  return {
    task_id: sub.task.task_id,
    status: sub.status === 'success' ? 'completed' : 'failed',
    changes: {
      files_created: files.created.map(change),
      files_modified: files.modified.map(change),
      files_deleted: files.deleted,
    },
    summary: said === undefined ? (reason ?? (event ? endWord(event) : '')) : textOf(said),
  }
}

/** A review with the findings that were raised as events and that its own list does not have. */
function withFindings(output: ReviewerOutput, { findings }: OwnerRecord): ReviewerOutput {
  const known = new Set(output.findings.map((finding) => finding.finding_id))
  const raised = findings.filter(({ payload }) => !known.has(payload.findingId))
  return { ...output, findings: [...output.findings.map(fileFinding), ...raised.map(findingFrom)] }
}

/** The writer's categories have no `test`; a missing test is a bug to whoever reads the file. */
function fileFinding(finding: ReviewFinding): ReviewFinding {
  return finding.category === 'test' ? { ...finding, category: 'bug', original_category: 'test' } : finding
}

function findingFrom({ payload }: OwnerRecord['findings'][number]): ReviewFinding {
  return fileFinding(
    compact({
      finding_id: payload.findingId || 'finding',
      severity: payload.severity,
      category: payload.category,
      file: payload.file ?? '',
      line: payload.line,
      description: textOf(payload.description),
      suggestion: payload.suggestion === undefined ? undefined : textOf(payload.suggestion),
      rationale: payload.rationale === undefined ? undefined : textOf(payload.rationale),
      fixed_in_iteration: payload.fixedInIteration,
    }),
  )
}
