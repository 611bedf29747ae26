import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { Asker } from '../../contract/principal.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { ModelMessage } from '../../ports/model.ts'
import type { Tool, ToolOutcome } from '../../ports/tools.ts'
import type { Lane } from '../lane.ts'
import type { BuiltInSessionRequest } from '../runtime.ts'
import type { RuntimeParts } from '../runtime-parts.ts'
import { said, wrong } from '../tools/runtime-tool.ts'
import { loadRecord, type RecordRef } from './load-record.ts'
import { stable } from './recorded.ts'
import type { RunRecord } from './run-record.ts'

/** How it is to go on. */
export type BranchWish = {
  readonly from: number
  readonly by: Asker
  readonly model?: string | undefined
  /** Words that are said to it there. */
  readonly prompt?: string | undefined
  /** Whether its tools are really run. */
  readonly runsTools: boolean
}

/** What a branch needs of the runtime. */
type Host = {
  readonly parts: RuntimeParts
  readonly open: (request: BuiltInSessionRequest) => Promise<SessionId>
  readonly lane: (sessionId: SessionId, agent: string) => Lane
  readonly end: (state: Readonly<SessionState>) => Promise<void>
}

/** Begins a session that has the conversation of a run up to one of its turns, and asks for that turn anew. */
export async function branchOff(
  { parts, open, lane, end }: Host,
  which: RecordRef,
  { from, by, model, prompt, runsTools }: BranchWish,
): Promise<{ sessionId: SessionId; step: number }> {
  const record = await loadRecord(parts, which)
  const { agent, workspace, runId } = record
  const { step, messages } = branchAt(record, from)
  const sessionId = await open({ agent, workspace, by, model, replayOf: { runId, step } })
  if (prompt !== undefined) messages.push({ role: 'user', text: prompt })
  const task = prompt ?? `continues from step ${step} of ${runId}`
  const done = lane(sessionId, agent).goOnFrom({
    messages,
    task,
    wrap: runsTools ? undefined : fromRecord(record),
  })
  // Whoever speaks to it later would expect tools that work.
  const over = async () => {
    const state = parts.engine.session(sessionId)
    if (state && !runsTools) await end(state)
  }
  done.then(over).catch((error: unknown) => parts.onBug(error, `replay of ${runId}`))
  return { sessionId, step }
}

/** Where a run is left to go on in another way. */
type Branch = {
  /** The turn that is asked for anew, counted from 1. */
  readonly step: number
  /** The conversation as it was given to the model for that turn. */
  readonly messages: ModelMessage[]
}

/** The conversation of a run before one of its turns, named by its number or by the seq of an event. */
function branchAt(record: RunRecord, from: number): Branch {
  if (record.depth > 0)
    throw new AppError('conflict', 'a subagent continues only for its parent; replay the run it worked for')
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
function fromRecord(record: RunRecord): (tool: Tool) => Tool {
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
        'Refused: the record has no such call, and this replay runs no tools. Continue with what is known.',
      )
    },
  })
}
