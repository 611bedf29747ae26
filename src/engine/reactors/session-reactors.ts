import type { Config } from '../../contract/config.ts'
import type { AgentEvent, EventType } from '../../contract/event.ts'
import { shortId } from '../../contract/ids.ts'
import { muster } from '../../contract/principal.ts'
import { noticeOf, noticeTypes } from '../../core/session/notice.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import { endTypes } from '../../core/trace/span-endings.ts'
import type { Ids } from '../../ports/clock.ts'
import type { Vault } from '../../ports/storage.ts'
import type { Budgets } from '../budgets.ts'
import type { Engine } from '../engine.ts'
import type { Reactor } from '../react.ts'
import { draftOf } from '../sessions/drafts.ts'

type Deps = {
  readonly engine: Engine
  readonly vault: Vault
  readonly ids: Ids
  readonly config: () => Config
  /** The queue of a session has something new. */
  readonly onQueued: (id: AgentEvent['sessionId']) => void
}

const deepest = 64

/**
 * Tells a parent what became of its child: once for each change, from child to parent only, through the
 * parent's queue. The journal's seq makes a repeat harmless.
 */
export const tellParent = (deps: Deps): Reactor => ({
  name: 'tell-parent',
  types: noticeTypes,
  async react(event) {
    const { engine } = deps
    const child = engine.session(event.sessionId)
    const parent = child && listener(engine, event, child)
    const text = child && said(event, child.managed?.friendlyName ?? child.managed?.name, deps.config())
    if (!parent?.managed || hasEnded(parent) || text === undefined) return
    // A workflow reads no messages: it waits for the end of its agents itself.
    if (parent.managed.origin === 'workflow') return
    await queueNote(deps, parent, {
      event,
      text,
      from: `child ${shortId(event.sessionId)}`,
      name: 'tell-parent',
    })
  },
})

/** Tells the session that sent a message that it was not delivered. A person sees it in the row and in the events. */
export const tellSender = (deps: Deps): Reactor => ({
  name: 'tell-sender',
  types: new Set<EventType>(['message.failed']),
  async react(event) {
    if (event.type !== 'message.failed') return
    const target = deps.engine.session(event.sessionId)
    const letter = target?.messageEnds?.dead?.find(({ messageId }) => messageId === event.payload.messageId)
    const sender = letter?.sender && deps.engine.session(letter.sender)
    const isReader = sender?.managed?.origin === 'managed' || sender?.managed?.origin === 'runtime'
    if (!letter || !sender || !isReader || hasEnded(sender)) return
    const short = shortId(event.sessionId)
    const text = `[muster] Your message to ${target?.managed?.name ?? short} (${short}) was not delivered: ${letter.reason}. It began: ${letter.preview.replaceAll(/\s+/g, ' ').slice(0, 80)} — see: sm messages ${short} --failed`
    await queueNote(deps, sender, { event, text, from: `session ${short}`, name: 'tell-sender' })
  },
})

type Note = {
  readonly event: AgentEvent
  readonly text: string
  readonly from: string
  readonly name: string
}

/** Queues words of Muster's own for a session; the event they are about makes a repeat harmless. */
async function queueNote(deps: Deps, to: Readonly<SessionState>, { event, text, from, name }: Note) {
  const span = [...to.open.values()].find(({ kind }) => kind === 'session')
  if (!span || !to.traceId) return
  const root = {
    sessionId: to.sessionId,
    traceId: to.traceId,
    runId: span.runId,
    spanId: deps.ids.span(),
    parentSpanId: span.spanId,
    actor: 'muster',
  }
  const queued = draftOf(root, 'message.queued', {
    messageId: `msg_${event.id.slice(4)}`,
    mode: 'sequential',
    from,
    preview: text,
    vault: await deps.vault.put(new TextEncoder().encode(text), span.runId),
  })
  await deps.engine.propose({
    items: [queued],
    by: muster.by,
    producer: { id: name, epoch: 1, n: event.seq },
  })
  deps.onQueued(to.sessionId)
}

/** Who is told: the parent, and of one whose parent is gone the next above that is there. */
function listener(engine: Engine, event: AgentEvent, child: Readonly<SessionState>) {
  const isOrphan = event.type === 'session.completed' && event.payload.outcome === 'abandoned'
  let above = child.parentSessionId && engine.session(child.parentSessionId)
  // A bound on the walk up, because a chain of parents is data and data can hold a circle.
  for (let i = 0; isOrphan && above && hasEnded(above) && i < deepest; i++)
    above = above.parentSessionId && engine.session(above.parentSessionId)
  return above
}

/** What the parent reads: what happened, in whose words, and how to look closer. */
function said(event: AgentEvent, name: string | undefined, config: Config): string | undefined {
  const told = noticeOf(event, config.child_agents.notifications)
  const short = shortId(event.sessionId)
  return (
    told && `[muster] Child ${name ?? short} (${short}) ${told.text}${told.hint ? ` — ${told.hint}` : ''}`
  )
}

const ends = new Set<EventType>(['session.completed', 'session.failed'])

/** After the end of a session: its transcript is kept and what runs on is ended, as the configuration says. */
export const tidySession = (
  tidy: (id: AgentEvent['sessionId'], signal: AbortSignal) => Promise<void>,
): Reactor => ({
  name: 'tidy-session',
  types: ends,
  react: (event, signal) => tidy(event.sessionId, signal),
})

/** After the end of a session its children may have lost their parent; what is true now is looked up, so a repeat does nothing. */
export const abandonChildren = (abandon: () => Promise<void>): Reactor => ({
  name: 'abandon-children',
  types: ends,
  react: abandon,
})

const types = new Set<EventType>(['llm.request.completed', 'llm.usage.corrected'])

/** Looks at the budgets above whoever used something. */
export const watchBudget = (budgets: Pick<Budgets, 'over'>): Reactor => ({
  name: 'watch-budget',
  types,
  saved: 'seldom',
  async react({ sessionId }) {
    await budgets.over(sessionId)
  },
})

/** When a run ends, its raw texts may go once their time is over. */
export const releaseVault = (vault: Vault): Reactor => ({
  name: 'release-vault',
  types: new Set<EventType>(endTypes),
  async react(event) {
    const at = Date.parse(event.recordedAt)
    await vault.release(event.runId, at)
    // How a session was started is kept under its own name, beyond any of its runs.
    if (event.type === 'session.completed' || event.type === 'session.failed')
      await vault.release(event.sessionId, at)
  },
})
