import {
  type AgentSession,
  LegacyPhase,
  LoopSummary,
  PhaseAnnotation,
  PhaseType,
} from '../contract/session-file/agent-session.ts'
import { itemsOf, textFrom } from '../core/json/field-kinds.ts'
import { fieldTable, numbered, readFields } from '../core/json/field-table.ts'
import { at, isRecord, type JsonRecord } from '../core/json/json-value.ts'
import { type Fields, fieldsOf, found, keepOriginal, setAside, shown } from '../core/json/repair.ts'
import { callIds, indexSession } from './session-walk.ts'
import { loosen } from './shape.ts'

/** The annotations of a session; they are optional, so what cannot be read is set aside. */
export function readAnnotations(session: Fields): void {
  liftAnnotations(session)
  const { record } = session
  if (!Object.hasOwn(record, 'phase_annotations')) return
  const items = itemsOf(found(session, 'phase_annotations'))
  if (!items) {
    setAside(session, 'phase_annotations', 'is not a list of annotations')
    return
  }
  const unread: unknown[] = []
  record['phase_annotations'] = items.flatMap((item, position) => {
    const fields = fieldsOf(item)
    if (fields && callRange(fields))
      return [readFields(fields, annotationTable, { session: record, position })]
    unread.push(item.value)
    const says = `${shown(item.value)} covers no calls; it is kept as original_phase_annotations`
    item.log(item.place, 'set_aside', says)
    return []
  })
  if (unread.length > 0) keepOriginal(session, 'phase_annotations', unread)
}

type Context = { readonly session: JsonRecord; readonly position: number }

const annotationTable = fieldTable<Context>(PhaseAnnotation, {
  annotation_id: { fallback: numbered('annotation') },
  phase_type: { fallback: 'unclassified' },
  annotated_by: { fallback: 'agent' },
  annotated_at: { fallback: (_, { session }) => String(session['completed_at'] ?? session['created_at']) },
  confidence: {
    fallback: ({ confidence: value }) =>
      typeof value !== 'number' || (value < 0.75 && value >= 0.4) ? 'medium' : value < 0.4 ? 'low' : 'high',
  },
  decisions: { read: fittingItems },
  context_used: { read: fittingItems },
})

const rangeTable = fieldTable<{ readonly start: string }>(PhaseAnnotation.shape.tool_call_range, {
  start_call_id: { fallback: (_, { start }) => start },
  end_call_id: { fallback: (_, { start }) => start },
})

/** Both ends of the range; an array of call ids has them first and last. */
function callRange({ record, place, log }: Fields): boolean {
  const range = record['tool_call_range']
  if (Array.isArray(range)) {
    const ids = range.map(textFrom).filter((call) => call !== undefined && call !== '')
    if (ids.length === 0) return false
    record['tool_call_range'] = { start_call_id: ids[0], end_call_id: ids.at(-1) }
    if (ids.length > 2) record['original_tool_call_range'] ??= range
    log(at(place, 'tool_call_range'), 'lifted', 'a list of calls is read as a range')
    return true
  }
  if (!isRecord(range)) return false
  const fields = fieldsOf(found({ record, place, log }, 'tool_call_range'))
  if (!fields) return false
  const start = textFrom(fields.record['start_call_id']) ?? textFrom(fields.record['end_call_id'])
  if (start === undefined || start === '') return false
  record['tool_call_range'] = readFields(fields, rangeTable, { start })
  return true
}

/** Keeps the items of a list that fit, and the rest beside. */
function fittingItems(fields: Fields, key: string): void {
  const value = fields.record[key]
  if (!Object.hasOwn(fields.record, key)) return
  if (!Array.isArray(value)) {
    setAside(fields, key, 'is not a list')
    return
  }
  const fits = (item: unknown) => itemSchemas[key]?.safeParse([item]).success
  const unfit = value.filter((item) => !fits(item))
  if (unfit.length === 0) return
  fields.record[key] = value.filter(fits)
  keepOriginal(fields, key, unfit)
  const says = `${unfit.length} items do not fit; they are kept as original_${key}`
  fields.log(at(fields.place, key), 'set_aside', says)
}

const itemSchemas: Readonly<Record<string, ReturnType<typeof loosen>>> = {
  decisions: loosen(PhaseAnnotation.shape.decisions),
  context_used: loosen(PhaseAnnotation.shape.context_used),
}

/** The calls that the phases of version 2 and the steps of version 1 hold become the session's. */
export function liftCalls({ record, place, log }: Fields): void {
  const source = phasesOf(record)
  if (!source) return
  const { key, phases } = source
  // A session that says it has no calls is believed, unless a phase holds some.
  const holdCalls = phases.some((phase) => isFilled(phase['tool_calls']))
  const calls = record['tool_calls']
  if (Array.isArray(calls) && (calls.length > 0 || !holdCalls)) return
  record['tool_calls'] = phases.flatMap(callsOf)
  log(at(place, 'tool_calls'), 'lifted', `the calls of the ${key} are the calls of the session`)
}

/** Each phase and step that has calls becomes an annotation; they stay where they are. */
function liftAnnotations(session: Fields): void {
  const { record, place, log } = session
  const source = phasesOf(record)
  if (!source || Array.isArray(record['phase_annotations'])) return
  const { key, phases } = source
  if (Object.hasOwn(record, 'phase_annotations'))
    setAside(session, 'phase_annotations', 'is not a list of annotations')
  const known = callIds(indexSession(record as unknown as AgentSession))
  const annotations = phases.flatMap((phase, i) => annotationOf(phase, i, known))
  if (annotations.length === 0) return
  record['phase_annotations'] = annotations
  log(at(place, 'phase_annotations'), 'lifted', `the ${key} are read as annotations`)
}

/** Whether a session is of version 2 or older: it has phases or steps, and no annotations over its calls. */
export const isLegacy = (record: JsonRecord): boolean =>
  phasesOf(record) !== undefined && !Array.isArray(record['phase_annotations'])

/** Keeps phases and loop_summary in their documented types; others are set aside. */
export function keepPhases(session: Fields): void {
  const { record } = session
  if (Object.hasOwn(record, 'phases') && !LegacyPhase.array().safeParse(record['phases']).success)
    setAside(session, 'phases', 'has phases of another shape')
  if (Object.hasOwn(record, 'loop_summary') && !LoopSummary.safeParse(record['loop_summary']).success)
    setAside(session, 'loop_summary', 'has another shape')
}

function phasesOf(record: JsonRecord): { key: string; phases: JsonRecord[] } | undefined {
  for (const key of ['phases', 'steps']) {
    const list = record[key]
    const phases = Array.isArray(list) ? list.filter(isRecord) : []
    if (phases.length > 0) return { key, phases }
  }
  return undefined
}

/** The calls a phase holds; one without any is itself read as a call, so that its times and texts are not lost. */
function callsOf(phase: JsonRecord, position: number): unknown[] {
  const own = phase['tool_calls']
  if (Array.isArray(own) && own.length > 0) return own
  const id = idOf(phase) ?? `step-${String(position + 1).padStart(3, '0')}`
  const { started_at, ended_at, timestamp, duration_ms, input, output, status } = phase
  const started = started_at ?? timestamp
  return [
    {
      call_id: id,
      tool_name: nameOf(phase) ?? 'step',
      tool_category: 'planning',
      ...(started === undefined ? {} : { started_at: started }),
      ...(ended_at === undefined ? {} : { ended_at }),
      ...(duration_ms === undefined ? {} : { duration_ms }),
      input: { params: isRecord(input) ? input : input === undefined || input === null ? {} : { input } },
      output: {
        status: status === 'failed' ? 'failed' : 'success',
        ...(isRecord(output) ? { result: output } : {}),
      },
    },
  ]
}

function annotationOf(phase: JsonRecord, position: number, known: ReadonlySet<unknown>): JsonRecord[] {
  const listed = Array.isArray(phase['tool_call_ids']) ? phase['tool_call_ids'] : []
  const held = Array.isArray(phase['tool_calls']) ? phase['tool_calls'].map(idOf) : []
  const calls = [...listed, ...held, idOf(phase)].filter((id) => known.has(id))
  if (calls.length === 0) return []
  const name = nameOf(phase) ?? ''
  const ended = phase['ended_at'] ?? phase['timestamp']
  return [
    {
      annotation_id: idOf(phase) ?? `phase-${String(position + 1).padStart(3, '0')}`,
      phase_type: PhaseType.safeParse(name).success ? name : (stepPhases.get(name) ?? 'unclassified'),
      tool_call_range: { start_call_id: calls[0], end_call_id: calls.at(-1) },
      annotated_by: 'agent',
      ...(ended === undefined ? {} : { annotated_at: ended }),
      confidence: 'medium',
      ...(name === '' ? {} : { description: name }),
      ...(Array.isArray(phase['decisions']) ? { decisions: phase['decisions'] } : {}),
      ...(Array.isArray(phase['context_used']) ? { context_used: phase['context_used'] } : {}),
    },
  ]
}

/** The seven steps of version 1 by the phase they are. */
const stepPhases = new Map<string, PhaseType>([
  ['requirement_input', 'understand'],
  ['task_decomposition', 'plan'],
  ['code_generation', 'execute'],
  ['environment_execution', 'execute'],
  ['debug_fix', 'execute'],
  ['result_verification', 'verify'],
  ['memory_consolidation', 'mixed'],
])

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0

const nameOf = (phase: JsonRecord): string | undefined =>
  textFrom(phase['phase_type']) ?? textFrom(phase['step_name']) ?? textFrom(phase['name'])

function idOf(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined
  const id = textFrom(value['call_id']) ?? textFrom(value['phase_id']) ?? textFrom(value['step_id'])
  return id ?? textFrom(value['id'])
}
