import type { SessionStatus } from '../../../contract/formats/std-001/parts.ts'
import type { Recorded } from './recorded.ts'

/** Every event that ends a session or an agent. */
export type EndEvent = Recorded<
  | 'session.completed'
  | 'session.failed'
  | 'agent.completed'
  | 'agent.failed'
  | 'agent.cancelled'
  | 'agent.killed'
  | 'agent.abandoned'
>
export type Ending = {
  readonly status: SessionStatus
  readonly termination_reason?: string
  readonly completed_at?: string
}

/** How something ended in the file's words; what they do not say stands in termination_reason. */
export function endingOf(ended: EndEvent | undefined): Ending {
  if (!ended) return { status: 'in_progress' }
  const word = endWord(ended)
  const completed_at = ended.timestamp
  if (word === 'completed') return { status: 'success', completed_at }
  const { reason } = ended.payload
  return { status: 'failed', completed_at, termination_reason: reason ? `${word}: ${reason}` : word }
}

/** The lifecycle word of an end event: completed, error, cancelled, killed or abandoned. */
export function endWord(ended: EndEvent): string {
  if (ended.type === 'session.completed') return ended.payload.outcome
  if (ended.type === 'session.failed' || ended.type === 'agent.failed') return 'error'
  return ended.type.slice('agent.'.length)
}
