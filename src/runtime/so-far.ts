import type { RunId, SessionId } from '../contract/ids.ts'
import { approvalFacts, PausedTime } from '../core/approvals/open-approvals.ts'
import type { SeenBefore } from '../ports/tools.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './parts.ts'

/** What a run did before it was cut off; its limits go on counting from there. */
export type SoFar = {
  readonly startedMs: number
  /** How long of the time since then it could not work: it waited for a person, or no daemon was there. */
  readonly stoodMs: number
  readonly turns: number
  readonly usage: readonly Parameters<LiveRun['used']>[0][]
  /** Calls on files of which no result is known. */
  readonly unfinished: readonly { readonly tool: string; readonly path: string }[]
  /** Files that it read and wrote. */
  readonly seenBefore: readonly SeenBefore[]
}

const fileTools = ['Read', 'Write', 'Edit']
const types = [
  'agent.spawned',
  'llm.request.started',
  'llm.request.completed',
  'tool.call.started',
  'tool.call.completed',
  'decision.made',
  ...approvalFacts,
] as const

export async function soFar(
  { events, clock }: Pick<RuntimeParts, 'events' | 'clock'>,
  sessionId: SessionId,
  runId: RunId,
): Promise<SoFar> {
  let startedMs = clock.now()
  let turns = 0
  const usage: SoFar['usage'][number][] = []
  const named = new Map<string, { tool: string; path: string }>()
  const seenBefore: SeenBefore[] = []
  const standstill = new PausedTime()
  for await (const event of events(sessionId, types)) {
    if (event.type === 'agent.spawned' && event.runId === runId) startedMs = Date.parse(event.timestamp)
    const isOwn = event.runId === runId
    if (isOwn) standstill.take(event)
    if (event.type === 'tool.call.started' && (isOwn || event.parentRunId === runId)) {
      const { callId, tool, params } = event.payload
      const path = fileTools.includes(tool)
        ? (params as { file_path?: unknown } | undefined)?.file_path
        : undefined
      if (typeof path === 'string') named.set(callId, { tool, path })
    }
    if (event.type === 'tool.call.completed') {
      const { callId } = event.payload
      const call = named.get(callId)
      if (call && isOwn) seenBefore.push({ path: call.path, atMs: Date.parse(event.timestamp) })
      named.delete(callId)
    }
    if (event.type !== 'llm.request.completed') continue
    if (event.runId === runId && event.payload.vault !== undefined) turns += 1
    if (event.runId === runId || event.parentRunId === runId) usage.push(event.payload.usage)
  }
  const stoodMs = standstill.ms(clock.now(), { isAway: true })
  return { startedMs, stoodMs, turns, usage, seenBefore, unfinished: [...named.values()] }
}
