import { loosen } from '../../../contract/formats/std-008/loosen.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { MultiAgentSessionSummary } from '../../../contract/formats/std-008/summary.ts'
import { filesChangedBy } from '../changed-files.ts'
import { extendedSummary } from '../extended-summary.ts'
import { at } from '../json/pointer.ts'
import { later, millisOf } from '../json/time.ts'
import { isRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, keepOriginal, setAside } from './fields.ts'
import { amount, optionalText, optionalWord, texts } from './values.ts'

/** The summary of a session, last, because what is missing is computed from everything else. */
export function repairSummary(session: Fields): void {
  const { record, place, log } = session
  const value = record['summary']
  if (!isRecord(value)) {
    const words = typeof value === 'string' ? { text: value } : {}
    if (value !== undefined && typeof value !== 'string') setAside(session, 'summary', 'is not an object')
    record['summary'] = words
    log(at(place, 'summary'), 'lifted', 'its figures are computed from the calls')
  }
  const fields = fieldsOf(found(session, 'summary'))
  if (!fields) return
  baseFigures(session, fields)
  if ('collaboration' in record) collaborationFigures(session, fields)
  record['summary'] = fields.record
}

function baseFigures({ record }: Fields, summary: Fields): void {
  const calls = record['tool_calls'] as MultiAgentSession['tool_calls']
  const subs = (record['sub_sessions'] ?? []) as MultiAgentSession['sub_sessions']
  const created = String(record['created_at'])
  const last = calls.at(-1)?.ended_at
  const end = (record['completed_at'] as string | undefined) ?? last ?? created
  const files = filesChangedBy([...calls, ...subs.flatMap((sub) => sub.tool_calls)])
  const ms = Math.max(0, millisOf(later(end, 0)) - millisOf(created))
  amount(summary, 'total_duration_ms', { fallback: () => ms })
  amount(summary, 'tool_calls_count', { whole: true, fallback: () => calls.length })
  texts(summary, 'files_created', () => listed(record['files_created']) ?? files.created)
  texts(summary, 'files_modified', () => listed(record['files_modified']) ?? files.modified)
  optionalText(summary, 'text')
  const errors = summary.record['errors_encountered']
  if (Array.isArray(errors)) {
    keepOriginal(summary, 'errors_encountered', errors)
    summary.record['errors_encountered'] = errors.length
    summary.log(
      at(summary.place, 'errors_encountered'),
      'converted',
      'a list of errors is read as their number',
    )
  }
  amount(summary, 'errors_encountered', { whole: true })
}

const listed = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined

const { agents, tasks } = MultiAgentSessionSummary.shape
const shapes = { agents: loosen(agents), tasks: loosen(tasks) }

function collaborationFigures({ record }: Fields, summary: Fields): void {
  const computed = extendedSummary(record as unknown as MultiAgentSession)
  for (const key of ['agents', 'tasks'] as const) {
    if (shapes[key].safeParse(summary.record[key]).success) continue
    const wasThere = Object.hasOwn(summary.record, key)
    keepOriginal(summary, key, summary.record[key])
    summary.record[key] = computed[key]
    const what = wasThere ? 'it had another shape' : 'it was missing'
    summary.log(at(summary.place, key), 'filled', `${what}; it is computed from the records`)
  }
  amount(summary, 'review_iterations', { whole: true, fallback: () => computed.review_iterations })
  optionalWord(summary, 'final_verdict', ['approved', 'rejected'])
  optionalWord(summary, 'last_verdict', ['approved', 'changes_requested', 'rejected'])
}
