import type { RunId, SessionId } from '../contract/ids.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './parts.ts'

/** What a run did before it was cut off; its limits go on counting from there. */
export type SoFar = {
  readonly startedMs: number
  readonly turns: number
  readonly usage: readonly Parameters<LiveRun['used']>[0][]
}

export async function soFar(
  { events, clock }: Pick<RuntimeParts, 'events' | 'clock'>,
  sessionId: SessionId,
  runId: RunId,
): Promise<SoFar> {
  let startedMs = clock.now()
  let turns = 0
  const usage: SoFar['usage'][number][] = []
  for await (const event of events(sessionId, ['agent.spawned', 'llm.request.completed'])) {
    if (event.type === 'agent.spawned' && event.runId === runId) startedMs = Date.parse(event.timestamp)
    if (event.type !== 'llm.request.completed') continue
    if (event.runId === runId && event.payload.vault !== undefined) turns += 1
    if (event.runId === runId || event.parentRunId === runId) usage.push(event.payload.usage)
  }
  return { startedMs, turns, usage }
}
