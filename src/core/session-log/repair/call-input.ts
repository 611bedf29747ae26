import { at } from '../json/pointer.ts'
import { isRecord, type JsonRecord } from '../json/value.ts'
import { type Fields, fieldsOf, found, setAside } from './fields.ts'
import { optionalText } from './values.ts'

const outside = ['params', 'arguments', 'args', 'tool_input'] as const
const documented = ['params', 'description', 'raw_command']

/** What went into a call, wherever the file has it; `params` is always there. */
export function callInput(fields: Fields): void {
  const { record, place, log } = fields
  const name = outside.find((key) => isRecord(record[key]))
  if (!Object.hasOwn(record, 'input') && name) {
    record['input'] = { params: record[name] }
    Reflect.deleteProperty(record, name)
    log(at(place, 'input'), 'moved', `${name} is read as the params of the input`)
  }
  const value = record['input']
  if (isRecord(value)) record['input'] = mended(fields)
  else if (value === undefined || value === null) {
    record['input'] = { params: {} }
    log(at(place, 'input'), 'filled', 'it was missing; empty params are put in')
  } else {
    record['input'] = { params: { value } }
    log(at(place, 'input'), 'lifted', 'the input is read as the only parameter')
  }
}

function mended(fields: Fields): JsonRecord {
  const inner = fieldsOf(found(fields, 'input'))
  if (!inner) return { params: {} }
  const { record, place, log } = inner
  if (Object.hasOwn(record, 'params') && !isRecord(record['params']))
    setAside(inner, 'params', 'is not an object')
  if (!isRecord(record['params'])) {
    // Without `params` the other fields are the parameters.
    const rest = Object.entries(record).filter(
      ([key]) => !documented.includes(key) && !key.startsWith('original_'),
    )
    for (const [key] of rest) Reflect.deleteProperty(record, key)
    record['params'] = Object.fromEntries(rest)
    log(at(place, 'params'), 'lifted', 'the fields of the input are read as its params')
  }
  optionalText(inner, 'description')
  optionalText(inner, 'raw_command')
  return record
}
