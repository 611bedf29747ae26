import { agentClis, isCodingCli, type UntoldCall } from '../../contract/agent-clis.ts'
import type { AgentEvent, EventType } from '../../contract/event.ts'

/** The events by which it is known that such a call was made. */
export const untoldSigns: readonly EventType[] = [
  'agent.spawned',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
  'tool.call.failed',
  'context.compacted',
]

/**
 * The model calls of a session whose tokens its CLI does not tell, as far as there were any. What it did tell of them,
 * up to a seq, counts no more.
 */
export function notCounted(cli: string | null, events: readonly AgentEvent[], toldSeq = 0): string | null {
  if (cli === null || !isCodingCli(cli)) return null
  const { untold } = agentClis[cli]
  const times: Readonly<Record<UntoldCall, number>> = {
    // One conversation has one name; how often it was left for another is not told.
    naming: Math.min(1, turnsIn(events).size),
    interrupt: interruptsIn(events),
    compaction: events.filter(({ type, seq }) => type === 'context.compacted' && seq > toldSeq).length,
  }
  const said = (Object.keys(times) as UntoldCall[]).flatMap((kind) => {
    const what = untold[kind]
    if (what === undefined || times[kind] === 0) return []
    return [times[kind] === 1 ? what : `${what} (${times[kind]} times)`]
  })
  return said.length === 0 ? null : said.join('; ')
}

const turnsIn = (events: readonly AgentEvent[]): ReadonlySet<string> =>
  new Set(
    events.flatMap((event) =>
      event.type === 'agent.spawned' && event.payload.kind === 'main' ? [event.spanId] : [],
    ),
  )

/** A tool that was stopped broke no answer off; its end is told in the same moment. */
const sameMomentMs = 2000

function interruptsIn(events: readonly AgentEvent[]): number {
  const turns = turnsIn(events)
  let tool: AgentEvent | undefined
  let count = 0
  for (const event of events) {
    if (event.type === 'tool.call.failed') tool = event
    const isStopped =
      event.type === 'agent.cancelled' || event.type === 'agent.killed' || event.type === 'agent.abandoned'
    if (!isStopped || !turns.has(event.spanId)) continue
    const isOfTool =
      tool?.runId === event.runId && Date.parse(event.timestamp) - Date.parse(tool.timestamp) <= sameMomentMs
    if (!isOfTool) count += 1
  }
  return count
}
