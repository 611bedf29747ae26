import type { EventType } from '../../contract/event.ts'
import { stateEvents } from '../news.ts'
import type { Urgency } from './pace.ts'

/** What else changes a row: its words and figures. */
const wordEvents = [
  'session.updated',
  'progress.checkpoint',
  'agent.spawned',
  'agent.status.changed',
  'message.queued',
  'message.delivered',
  'message.accepted',
  'message.failed',
  'budget.warning',
  'budget.exceeded',
] as const satisfies readonly EventType[]

/** What comes many times a minute and moves only figures. */
const figureEvents = [
  'signal.changed',
  'tool.call.started',
  'tool.call.completed',
  'tool.call.failed',
  'llm.request.completed',
  'llm.usage.corrected',
] as const satisfies readonly EventType[]

/** The events after which a row may look different. */
export const watchedTypes: readonly string[] = [...stateEvents, ...wordEvents, ...figureEvents]

const slow: ReadonlySet<string> = new Set(figureEvents)

export const urgencyOf = (type: string): Urgency => (slow.has(type) ? 'later' : 'soon')
