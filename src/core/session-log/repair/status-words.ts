import type { SessionStatus } from '../../../contract/formats/std-001/parts.ts'
import type { Fields } from './fields.ts'
import { word } from './values.ts'

const good = 'completed complete done ok succeeded successful finished passed approved closed'.split(' ')
const bad =
  'error errored failure fail cancelled canceled aborted abort killed abandoned timeout timed_out rejected denied crashed interrupted'.split(
    ' ',
  )
const open =
  'running active working pending started starting spawned idle waiting waiting_input queued partial open paused blocked'.split(
    ' ',
  )

/** Other words for how a session stands. */
export const statusWords: Readonly<Record<string, SessionStatus>> = Object.fromEntries([
  ...good.map((name) => [name, 'success'] as const),
  ...bad.map((name) => [name, 'failed'] as const),
  ...open.map((name) => [name, 'in_progress'] as const),
])

/** The status of a session or sub-session; a word nobody knows is read by whether there is an end. */
export function sessionStatus(fields: Fields): void {
  const hasEnded = fields.record['completed_at'] !== undefined
  word(fields, 'status', {
    allowed: ['success', 'failed', 'in_progress'],
    also: statusWords,
    fallback: (name) => (hasEnded ? (name === undefined ? 'success' : 'failed') : 'in_progress'),
  })
}
