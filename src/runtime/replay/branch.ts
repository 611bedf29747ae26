import { AppError } from '../../contract/errors.ts'
import type { ModelMessage } from '../../ports/model.ts'
import type { Tool, ToolOutcome } from '../../ports/tools.ts'
import { said, wrong } from '../tools/own-tool.ts'
import { stable } from './difference.ts'
import type { RunRecord } from './run-record.ts'

/** Where a run is left to go on in another way. */
export type Branch = {
  /** The turn that is asked for anew, counted from 1. */
  readonly step: number
  /** The conversation as it was given to the model for that turn. */
  readonly messages: ModelMessage[]
}

/** The conversation of a run before one of its turns, named by its number or by the seq of an event. */
export function branchAt(record: RunRecord, from: number): Branch {
  if (record.depth > 0)
    throw new AppError(
      'conflict',
      'a subagent goes on only for its parent; replay the run that it worked for',
    )
  const turns = record.acts.filter((act) => act.kind === 'turn')
  const at = from <= turns.length ? from - 1 : turns.findIndex(({ seq }) => seq >= from)
  const target = turns[at]
  if (!target)
    throw new AppError(
      'invalid',
      `there is no step ${from}; the run has ${turns.length}, or name the seq of one`,
    )
  let messages: ModelMessage[] = record.messages.slice(0, record.kept)
  for (const act of record.acts) {
    if (act.kind === 'summary') messages = [...act.compacted.messages]
    if (act.kind !== 'turn') continue
    messages.push(...act.gained)
    if (act === target) break
    messages.push({ role: 'assistant', parts: act.turn.parts })
  }
  return { step: at + 1, messages }
}

/** Answers calls that the record has, each as often as it was made there; nothing is ever run. */
export function fromRecord(record: RunRecord): (tool: Tool) => Tool {
  const made = record.acts
    .flatMap((act) => (act.kind === 'turn' ? act.turn.parts : []))
    .filter((part) => part.kind === 'call')
  const served = new Set<string>()
  return (tool) => ({
    ...tool,
    async run(input): Promise<ToolOutcome> {
      const isSame = (raw: unknown) => {
        const read = tool.input.safeParse(raw)
        return read.success && stable(read.data) === stable(input)
      }
      for (const call of made) {
        const answer = record.calls.get(call.callId)?.answer
        if (call.tool !== tool.name || !answer || served.has(call.callId) || !isSame(call.input)) continue
        served.add(call.callId)
        const told = answer.isError ? wrong(answer.text) : said(answer.text)
        return { ...told, ...(answer.ends && { ends: answer.ends }) }
      }
      return wrong(
        'Refused: the record has no such call, and in this replay no tool is run. Go on with what is known.',
      )
    },
  })
}
