import { ReviewerReply } from '../../../contract/collaboration/replies.ts'
import { type Foreign, foreign, foreignList } from '../../../contract/formats/foreign-json.ts'
import type { ReviewFinding } from '../../../contract/session-file/outputs.ts'
import { reviewerOutput, severities, verdicts } from '../../delegation/read-outputs.ts'
import { knownWord, texts } from '../../json/field-kinds.ts'
import { root } from '../../json/json-value.ts'
import { type Read, readReply } from './read-reply.ts'

type Review = {
  readonly round: number
  /** Findings of earlier rounds that nobody has called mended yet. */
  readonly earlier: readonly ReviewFinding[]
  /** Who reviews, where several do. */
  readonly by?: string
}

/** What a reviewer ends its words with. Its findings get names that no other round of the collaboration has. */
export function readReview(words: string, review: Review): Read<ReviewerReply> {
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

/** Critical findings of earlier rounds that a review neither calls mended nor raises again. */
export function unansweredCritical(
  { findings, addressed = [] }: Pick<ReviewerReply, 'findings' | 'addressed'>,
  earlier: readonly ReviewFinding[],
): ReviewFinding[] {
  const answered = new Set([...addressed, ...findings.map((finding) => finding.finding_id)])
  return earlier.filter(({ severity, finding_id }) => severity === 'critical' && !answered.has(finding_id))
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

const silences = (reply: ReviewerReply, { earlier }: Review): string[] =>
  unansweredCritical(reply, earlier).map(
    ({ finding_id }) =>
      `${finding_id} was critical: put its id into addressed when it is mended, or raise it again under the same id`,
  )

/** The findings under their names in the collaboration, and the changes that point at them. */
function numbered({ findings, required_changes: changes }: Foreign, review: Review): Foreign {
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
