import type { SessionId } from '../../contract/ids.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Lane } from '../lane.ts'
import type { RuntimeParts } from '../parts.ts'
import type { OwnSessionRequest } from '../runtime.ts'
import { branchAt, fromRecord } from './branch.ts'
import { loadRecord, type RecordRef } from './load-record.ts'

/** How it is to go on. */
export type BranchWish = {
  readonly from: number
  readonly by: string
  readonly model?: string | undefined
  /** Words that are said to it there. */
  readonly prompt?: string | undefined
  /** Whether its tools are really run. */
  readonly runsTools: boolean
}

/** What a branch needs of the runtime. */
type Host = {
  readonly parts: RuntimeParts
  readonly open: (request: OwnSessionRequest) => Promise<SessionId>
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
  const task = prompt ?? `goes on from step ${step} of ${runId}`
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
