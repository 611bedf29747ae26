import type { Config } from '../../contract/config.ts'
import type { AgentEvent, EventType } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import type { BlobRef } from '../../contract/values.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Engine } from '../engine.ts'
import type { Reactor } from '../react.ts'
import { draftOf } from '../sessions/drafts.ts'

type Deps = {
  readonly engine: Engine
  readonly vault: Vault
  readonly ids: Ids
  readonly config: () => Config
  /** The parent's queue has something new. */
  readonly onQueued: (parentId: AgentEvent['sessionId']) => void
}

const types = new Set<EventType>([
  'session.completed',
  'session.failed',
  'agent.idle',
  'agent.waiting',
  'approval.requested',
  'progress.checkpoint',
])

/**
 * Tells a parent what became of its child: once for each change, from child to parent only, through the
 * parent's queue. The journal's seq makes a repeat harmless.
 */
export const tellParent = (deps: Deps): Reactor => ({
  name: 'tell-parent',
  types,
  async react(event) {
    const { engine } = deps
    const child = engine.session(event.sessionId)
    const parent = child?.parentSessionId && engine.session(child.parentSessionId)
    const text = child && said(event, child.managed?.friendlyName ?? child.managed?.name, deps.config())
    if (!parent?.managed || hasEnded(parent) || text === undefined) return
    const span = [...parent.open.values()].find(({ kind }) => kind === 'session')
    if (!span || !parent.traceId) return
    const root = {
      sessionId: parent.sessionId,
      traceId: parent.traceId,
      runId: span.runId,
      spanId: span.spanId,
      actor: 'muster',
    }
    const queued = draftOf(
      { ...root, spanId: deps.ids.span(), parentSpanId: span.spanId },
      'message.queued',
      {
        messageId: `msg_${event.id.slice(4)}`,
        mode: 'sequential',
        from: `child ${shortId(event.sessionId)}`,
        preview: text,
        vault: await deps.vault.put(new TextEncoder().encode(text), span.runId),
      },
    )
    await engine.propose({
      items: [queued],
      principal: { kind: 'operator', channel: 'api' },
      producer: { id: 'tell-parent', epoch: 1, n: event.seq },
    })
    deps.onQueued(parent.sessionId)
  },
})

/** What the parent reads: what happened, in whose words, and how to look closer. */
function said(event: AgentEvent, name: string | undefined, config: Config): string | undefined {
  const short = shortId(event.sessionId)
  const who = `[muster] Child ${name ?? short} (${short})`
  const { notifications } = config.child_agents
  switch (event.type) {
    case 'session.completed': {
      const { outcome, message, reason } = event.payload
      if (!notifications.notify_parent_on_complete) return undefined
      return `${who} ${outcome}: ${line(message ?? reason ?? 'no message')} — more: sm output ${short}`
    }
    case 'session.failed': {
      const { message, error, reason } = event.payload
      if (!notifications.notify_parent_on_error) return undefined
      return `${who} failed: ${line(message ?? error ?? reason ?? 'no reason given')} — more: sm output ${short}`
    }
    case 'agent.idle':
      return notifications.notify_parent_on_idle
        ? `${who} is idle for ${Math.round((event.payload.idleMs ?? 0) / 60_000)} min and has not said that it is done — look: sm progress ${short}`
        : undefined
    case 'agent.waiting':
      return `${who} waits for ${event.payload.waitsFor} — see: sm approvals; answer: sm approve ${short}, sm reject ${short} or sm send ${short} "…"`
    case 'approval.requested':
      return event.payload.subject === 'termination'
        ? `${who} appears complete. Approve termination? sm approve ${short} or sm reject ${short}`
        : undefined
    case 'progress.checkpoint':
      return notifications.notify_parent_on_checkpoint
        ? `${who} reports: ${line(event.payload.message)}`
        : undefined
    default:
      return undefined
  }
}

function line(text: string | BlobRef): string {
  const whole = typeof text === 'string' ? text : text.preview
  return whole.replaceAll(/\s+/g, ' ').trim().slice(0, 600)
}
