import { at } from '../json/pointer.ts'
import { isRecord } from '../json/value.ts'
import { type Fields, setAside } from './fields.ts'

/** A message's payload; the older content and related_task_id become it. */
export function messagePayload(fields: Fields): void {
  const { record, place, log } = fields
  if (!Object.hasOwn(record, 'payload')) {
    const content = record['content']
    record['payload'] = content === undefined ? {} : isRecord(content) ? { ...content } : { content }
    Reflect.deleteProperty(record, 'content')
    const message =
      content === undefined ? 'it was missing; an empty one is put in' : 'content is read as the payload'
    log(at(place, 'payload'), content === undefined ? 'filled' : 'renamed', message)
  }
  const task = record['related_task_id']
  if (task === undefined) return
  const payload = record['payload']
  if (typeof task !== 'string' || !isRecord(payload)) {
    setAside(fields, 'related_task_id', 'cannot be put into the payload')
    return
  }
  Reflect.deleteProperty(record, 'related_task_id')
  if (payload['task_id'] === undefined) record['payload'] = { ...payload, task_id: task }
  log(at(at(place, 'payload'), 'task_id'), 'moved', 'related_task_id is read as the task of the payload')
}
