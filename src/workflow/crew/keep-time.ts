import type { AgentEvent } from '../../contract/event.ts'
import { timeUsed, type WorkSign } from '../../core/collaboration/crew-effort.ts'
import { workTime } from '../../engine/budgets.ts'
import type { Flow } from '../../ports/durable.ts'
import type { CrewParts } from './crew-parts.ts'

const signs = [
  'workflow.started',
  'workflow.checkpoint.saved',
  'workflow.checkpoint.resumed',
  'session.state.changed',
  'agent.message.created',
  'llm.request.completed',
  'tool.call.completed',
] as const

/**
 * Resolves when a run was at work for so long, whichever daemons it ran under. Its clock stands still while the run
 * waits for a person.
 */
export async function keepTime(
  { clock, engine, events }: Pick<CrewParts, 'clock' | 'engine' | 'events'>,
  flow: Flow,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { sessionId } = flow.root()
  const marks: WorkSign[] = []
  for await (const event of events(sessionId, signs)) marks.push(markOf(event))
  const now = clock.now()
  const usedMs = timeUsed([...marks, { atMs: now, is: 'sign' }])
  const isWaiting = () => engine.session(sessionId)?.lifecycle === 'waiting_input'
  await workTime(clock, { untilMs: now + limitMs - usedMs, isWaiting }, signal)
}

function markOf(event: AgentEvent): WorkSign {
  const atMs = Date.parse(event.timestamp)
  if (event.type === 'workflow.checkpoint.resumed') return { atMs, is: 'resumed' }
  if (event.type !== 'session.state.changed') return { atMs, is: 'sign' }
  return { atMs, is: event.payload.to === 'waiting_input' ? 'waiting' : 'at_work' }
}
