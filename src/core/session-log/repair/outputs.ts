import { isRecord } from '../json/value.ts'
import { developerOutput } from './developer-output.ts'
import { type Fields, found, setAside } from './fields.ts'
import { reviewerOutput } from './reviewer-output.ts'

const developerSigns = ['status', 'changes', 'summary', 'files_created', 'files_modified', 'notes', 'task_id']

/** A sub-session's output as a developer's or a reviewer's; what is neither is kept beside as it is. */
export function subSessionOutput(sub: Fields): void {
  const { record } = sub
  if (!Object.hasOwn(record, 'output')) return
  const value = record['output']
  const taskId = isRecord(record['task']) ? String(record['task']['task_id']) : ''
  const output = found(sub, 'output')
  const isReview = isRecord(value) && ('verdict' in value || 'findings' in value)
  const isWork = isRecord(value) && developerSigns.some((sign) => sign in value)
  const read = isReview
    ? reviewerOutput(output, taskId)
    : isWork
      ? developerOutput(output, taskId)
      : undefined
  if (read) record['output'] = read
  else setAside(sub, 'output', 'is neither a developer’s nor a reviewer’s output')
}
