import { at, type Place } from '../json/pointer.ts'
import { millisOf } from '../json/time.ts'
import type { JsonRecord } from '../json/value.ts'
import type { RepairLog } from './log.ts'

type Context = { readonly place: Place; readonly log: RepairLog }

/** Numbers messages by their time when one of them has no usable number; else the file's numbers stand. */
export function sequenceNumbers(messages: readonly JsonRecord[], { place, log }: Context): void {
  if (messages.every(({ sequence_number: number }) => isNumber(number))) return
  const inOrder = messages
    .map((message, position) => ({ message, position, at: millisOf(String(message['timestamp'])) }))
    .sort((a, b) => a.at - b.at || a.position - b.position)
  inOrder.forEach(({ message, position }, i) => {
    const before = message['sequence_number']
    if (before === i + 1) return
    if (before !== undefined && before !== null) message['original_sequence_number'] ??= before
    message['sequence_number'] = i + 1
    log(at(at(place, position), 'sequence_number'), 'filled', `${i + 1} is put in, from the order of time`)
  })
}

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
