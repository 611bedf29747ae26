import type { Config } from '../../contract/config.ts'
import type { AgentEvent, EventType } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import type { BlobRef } from '../../contract/values.ts'

/** What is worth telling whoever looks after a session: in which word, what is said, and how to look closer. */
export type Notice = { readonly event: string; readonly text: string; readonly hint?: string }

type Wanted = Config['child_agents']['notifications']

/** Events that may be told; which of them are depends on the settings. */
export const noticeTypes: ReadonlySet<EventType> = new Set<EventType>([
  'session.completed',
  'session.failed',
  'session.state.changed',
  'agent.idle',
  'agent.waiting',
  'approval.requested',
  'progress.checkpoint',
])

/** What an event of a child means to its parent; nothing when it is not told. */
export function noticeOf(event: AgentEvent, wanted: Wanted): Notice | undefined {
  const short = shortId(event.sessionId)
  const more = `more: sm output ${short}`
  switch (event.type) {
    case 'session.completed': {
      const { outcome, message, reason } = event.payload
      if (!wanted.notify_parent_on_complete) return undefined
      const hint = outcome === 'abandoned' ? `take it over: sm adopt ${short}` : more
      return { event: outcome, text: `${outcome}: ${line(message ?? reason ?? 'no message')}`, hint }
    }
    case 'session.failed': {
      const { outcome = 'failed', message, error, reason } = event.payload
      if (!wanted.notify_parent_on_error) return undefined
      return {
        event: 'error',
        text: `${outcome}: ${line(message ?? error ?? reason ?? 'no reason given')}`,
        hint: more,
      }
    }
    case 'session.state.changed':
      // A second look at the same failure is no second failure.
      if (event.payload.to !== 'failed' || event.payload.from === 'failed' || !wanted.notify_parent_on_error)
        return undefined
      return {
        event: 'failed',
        text: `is alive, but its last turn failed: ${line(event.payload.detail ?? 'no reason given')}`,
        hint: `${more}; continue: sm send ${short} "…"`,
      }
    case 'agent.idle': {
      const minutes = Math.round((event.payload.idleMs ?? 0) / 60_000)
      if (!wanted.notify_parent_on_idle) return undefined
      return {
        event: 'idle',
        text: `has been idle for ${minutes} min without reporting that it is done`,
        hint: `look: sm progress ${short}`,
      }
    }
    case 'agent.waiting':
      return {
        event: 'waiting',
        text: `waits for ${event.payload.waitsFor}`,
        hint: `see: sm approvals; answer: sm approve ${short}, sm reject ${short} or sm send ${short} "…"`,
      }
    case 'approval.requested':
      return event.payload.subject === 'termination'
        ? {
            event: 'approval',
            text: `appears complete. Approve termination? sm approve ${short} or sm reject ${short}`,
          }
        : undefined
    case 'progress.checkpoint':
      return wanted.notify_parent_on_checkpoint
        ? { event: 'checkpoint', text: `reports: ${line(event.payload.message)}` }
        : undefined
    default:
      return undefined
  }
}

function line(text: string | BlobRef): string {
  const whole = typeof text === 'string' ? text : text.preview
  return whole.replaceAll(/\s+/g, ' ').trim().slice(0, 600)
}
