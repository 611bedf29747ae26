import * as z from 'zod'
import {
  type Model,
  ModelFailure,
  type ModelMessage,
  type ModelTurn,
  type ToolAnswer,
} from '../../ports/model.ts'
import type { Tool } from '../../ports/tools.ts'
import type { Compacted } from '../compact.ts'
import type { RecordedAct, RunRecord } from './run-record.ts'

/** The record has nothing for what is asked: it was cut off there. */
export class RecordOver extends Error {
  override readonly name = 'RecordOver'
}

/** Serves the acts of a record one by one. */
export class Served {
  readonly record: RunRecord
  #next = 0

  constructor(record: RunRecord) {
    this.record = record
  }

  /** Goes on from the act at this place. */
  startAt(place: number): void {
    this.#next = place
  }

  /** What comes next in the record. */
  peek(): RecordedAct | undefined {
    return this.record.acts[this.#next]
  }

  /** How many turns were served. */
  get turns(): number {
    return this.record.acts.slice(0, this.#next).filter(({ kind }) => kind === 'turn').length
  }

  take(): ModelTurn {
    const act = this.peek()
    if (!act || act.kind === 'resumed') throw new RecordOver('the record ends here')
    this.#next += 1
    if (act.kind !== 'failure') return act.turn
    // The kind of a failure matters only where the loop makes a difference.
    throw new ModelFailure(act.isTooLong ? 'context_length' : 'refused', act.error)
  }

  /** What a call was answered: as it was kept, or as the next turn was told. */
  answer(callId: string): ToolAnswer & Pick<Awaited<ReturnType<Tool['run']>>, 'ends'> {
    const kept = this.record.calls.get(callId)?.answer
    const told = this.told(callId)
    const found = kept ?? told
    if (!found) throw new RecordOver(`the record has no answer of call ${callId}`)
    return found
  }

  told(callId: string): ToolAnswer | undefined {
    const next = this.peek()
    const after = next?.kind === 'resumed' ? this.record.acts[this.#next + 1] : next
    if (after?.kind !== 'turn') return undefined
    return after.gained
      .flatMap((message) => (message.role === 'tool' ? message.answers : []))
      .find((answer) => answer.callId === callId)
  }
}

/** A model that says what it said. */
export const recordedModel = (served: Served): Model => ({
  provider: 'record',
  id: 'record',
  turn: async () => served.take(),
})

/** A tool that answers what it answered; nothing outside is touched. */
export const recordedTool = (tool: Tool, served: Served): Tool => ({
  ...tool,
  changes: (input, workspace) => tool.changes(input, workspace).catch(() => []),
  run: async (_input, { call }) => served.answer(call.callId),
})

/** Tools that were there when the run was, as those of a server that is not asked now. */
export function missingTools({ acts }: RunRecord, known: ReadonlySet<string>): Tool[] {
  const called = acts
    .flatMap((act) => (act.kind === 'turn' ? act.turn.parts : []))
    .flatMap((part) => (part.kind === 'call' && part.tool.startsWith('mcp__') ? [part.tool] : []))
  return [...new Set(called)]
    .filter((name) => !known.has(name))
    .map((name) => ({
      name,
      description: '',
      category: 'action',
      input: z.looseObject({}),
      changes: async () => [],
      run: async () => ({ text: '', isError: true }),
    }))
}

/** Where a replay does not come to the same; it never says what the texts are. */
export type Difference = {
  /** Which turn of the model; 0 is before the first. */
  readonly step: number
  readonly what: 'agent' | 'conversation' | 'answer' | 'gate' | 'end'
  readonly detail: string
}

/** What the loop keeps, against what the record has in its place. */
export function differenceOf(served: Served, value: unknown): Difference | undefined {
  const step = served.turns
  if (!served.record.isExact) return undefined
  if (Array.isArray(value)) {
    const act = served.record.acts.filter(({ kind }) => kind === 'turn')[step - 1]
    if (act?.kind !== 'turn') return { step, what: 'conversation', detail: 'the record has no such turn' }
    return unlike(act.gained, (value as ModelMessage[]).slice(0, -1), step)
  }
  if (typeof value !== 'object' || value === null || !('messages' in value)) return undefined
  const { messages } = value as Compacted
  const summaries = served.record.acts.flatMap((act) => (act.kind === 'summary' ? [act.compacted] : []))
  const isThere = summaries.some((one) => same(one.messages, messages))
  return isThere ? undefined : { step, what: 'conversation', detail: 'it was shortened differently' }
}

function unlike(
  recorded: readonly ModelMessage[],
  replayed: readonly ModelMessage[],
  step: number,
): Difference | undefined {
  for (let i = 0; i < Math.max(recorded.length, replayed.length); i++) {
    const [one, other] = [recorded[i], replayed[i]]
    if (same(one, other)) continue
    if (one?.role === 'tool' && other?.role === 'tool') {
      const at =
        one.answers.find((answer, n) => !same(answer, other.answers[n])) ?? other.answers[one.answers.length]
      return { step, what: 'answer', detail: `the answer of ${at?.tool} (${at?.callId}) differs` }
    }
    const named = (message: ModelMessage | undefined) => (message ? `a ${message.role} message` : 'nothing')
    const detail = `message ${i + 1} of the step: the record has ${named(one)}, the replay ${named(other)}${one?.role === other?.role ? ' with other words' : ''}`
    return { step, what: 'conversation', detail }
  }
  return undefined
}

/** A record that was written and read again has no fields without a value, and no order is promised. */
const same = (one: unknown, other: unknown): boolean => stable(one) === stable(other)

export function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'nothing'
  )
}
