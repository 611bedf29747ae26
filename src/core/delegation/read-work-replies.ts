import { DeveloperReply, ReviewerReply } from '../../contract/collaboration/replies.ts'
import { type Foreign, foreign, foreignList } from '../../contract/formats/foreign-json.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { knownWord, texts } from '../json/field-kinds.ts'
import { root } from '../json/json-value.ts'
import { unansweredCritical } from './judge-review.ts'
import { developerOutput, developerStatuses, reviewerOutput, severities, verdicts } from './read-outputs.ts'
import { type ReplyResult, readReply } from './read-reply.ts'

const mostProse = 4000

/** What a developer ends its words with; other words for a status, and notes, are understood. */
export const readDeveloper = (words: string): ReplyResult<DeveloperReply> =>
  readReply(words, {
    schema: DeveloperReply,
    translate: (value) => developerOutput({ value, place: root, log: () => {} }, ''),
    // The reader of session files would take a missing or strange word as partial; here it can be asked for.
    check: (_, said) =>
      knownWord(said['status'], developerStatuses) === undefined
        ? ['status: expected completed, partial or failed']
        : [],
  })

/** A developer that never gave its answer as data: its work counts, but as unfinished. */
export const developerFromProse = (words: string): DeveloperReply => ({
  status: 'partial',
  summary: words.trim().slice(-mostProse),
  blockers: ['the developer did not answer in the form that was asked for'],
})

type ReviewContext = {
  readonly round: number
  /** Findings of earlier rounds that nobody has called fixed yet. */
  readonly earlier: readonly ReviewFinding[]
  /** Who reviews, where several do. */
  readonly by?: string
}

/** What a reviewer ends its words with. Its findings get names that no other round of the collaboration has. */
export function readReview(words: string, review: ReviewContext): ReplyResult<ReviewerReply> {
  return readReply(words, {
    schema: ReviewerReply,
    translate: (value) => {
      const record = reviewerOutput({ value, place: root, log: () => {} }, '')
      if (record) texts({ record, place: root, log: () => {} }, 'addressed')
      return record && { ...record, ...numbered(record, review) }
    },
    check: (reply, said) => [...wordProblems(said), ...emptyFindings(reply), ...silences(reply, review)],
  })
}

// A severity or verdict that cannot be read must not pass as a harmless one.
function wordProblems(said: Foreign): string[] {
  const verdict =
    knownWord(said['verdict'], verdicts) === undefined
      ? ['verdict: expected approved, changes_requested or rejected']
      : []
  const strange = foreignList(said['findings']).flatMap((finding, i) =>
    knownWord(foreign(finding)['severity'], severities) === undefined
      ? [`findings.${i}.severity: expected critical, major, minor or suggestion`]
      : [],
  )
  return [...verdict, ...strange]
}

const emptyFindings = ({ findings }: ReviewerReply): string[] =>
  findings.flatMap(({ description }, i) =>
    description.trim() === '' ? [`findings.${i}.description: say what goes wrong, and when`] : [],
  )

const silences = (reply: ReviewerReply, { earlier }: ReviewContext): string[] =>
  unansweredCritical(reply, earlier).map(
    ({ finding_id, description }) =>
      `${finding_id} was critical (${description}): put its id into addressed when it is fixed, or raise it again under the same id`,
  )

/** The findings under their names in the collaboration, and the changes that point at them. */
function numbered({ findings, required_changes: changes }: Foreign, review: ReviewContext): Foreign {
  const { round, earlier, by } = review
  const prefix = by === undefined ? `r${round}` : `r${round}-${by}`
  const again = new Set(earlier.map((finding) => finding.finding_id))
  const names = new Map<string, string>()
  const used = new Set<string>()
  const named = foreignList(findings).map((finding) => {
    const id = String(foreign(finding)['finding_id'])
    const own = again.has(id) && !used.has(id) ? id : free(`${prefix}-${id}`, used)
    used.add(own)
    if (!names.has(id)) names.set(id, own)
    return { ...foreign(finding), finding_id: own }
  })
  const pointed = foreignList(changes).map((change) => {
    const related = foreignList(foreign(change)['related_findings']).map(String)
    return { ...foreign(change), related_findings: related.map((id) => names.get(id) ?? id) }
  })
  return { findings: named, ...(pointed.length === 0 ? {} : { required_changes: pointed }) }
}

function free(id: string, used: ReadonlySet<string>): string {
  let [name, n] = [id, 1]
  while (used.has(name)) {
    n += 1
    name = `${id}-${n}`
  }
  return name
}
