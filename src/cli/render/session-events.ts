import type { SessionEventView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { clock } from './clock.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'

/** One event of a session: `[15:15] completed: Child abc123 completed - "Feature X done"`. */
export function renderSessionEvent(event: SessionEventView, { now, color }: View): string {
  const word = painter(color)(colourOf(event.event_type), event.event_type)
  return `[${clock(event.timestamp, now)}] ${word}: ${oneLine(event.message)}`.trimEnd()
}

function colourOf(word: string): 'red' | 'green' | 'yellow' | 'cyan' {
  if (/^(error|killed|cancelled|abandoned|refused)$/.test(word)) return 'red'
  if (word === 'waiting' || word === 'approval') return 'yellow'
  return word === 'completed' ? 'green' : 'cyan'
}
