import type { SessionId } from '../contract/ids.ts'
import { muster } from '../contract/principal.ts'
import { type BudgetUse, budgetUse, noPrice, priceCure, type Used } from '../core/ledger/budget.ts'
import type { SessionState } from '../core/session/state.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Engine } from './engine.ts'
import { draftOf, type Root } from './sessions/drafts.ts'

type BudgetDeps = {
  readonly engine: Engine
  readonly ids: Ids
  /** What a session and all below it have used, by all that is recorded by now. */
  readonly used: (id: SessionId) => Promise<Used>
  /** The models in it whose calls nobody can price. */
  readonly unpriced: (id: SessionId) => Promise<readonly string[]>
}

/** A budget that is used up: whose it is, and how far. */
export type Over = { readonly name: string; readonly sessionId: SessionId; readonly use: BudgetUse }

type Watcher = { readonly sessionId: SessionId; readonly tell: (over: Over) => void }

const deepest = 64

/** Holds sessions to their budgets: each is warned of and told of once for each size of it. */
export class Budgets {
  readonly #deps: BudgetDeps
  readonly #watchers = new Set<Watcher>()

  constructor(deps: BudgetDeps) {
    this.#deps = deps
  }

  /** Whether a session, or one above it, has a budget. */
  isBound(id: SessionId): boolean {
    return this.#above(id).some(({ managed }) => managed?.budget !== undefined)
  }

  /** Whether the money of a session, or of one above it, is limited. */
  isMoneyBound(id: SessionId): boolean {
    return this.#above(id).some(({ managed }) => managed?.budget?.usd !== undefined)
  }

  /** What a session and all below it have used. */
  used(id: SessionId): Promise<Used> {
    return this.#deps.used(id)
  }

  /** The first budget of a session and of those above it that is used up; what is found is told. */
  async over(id: SessionId): Promise<Over | undefined> {
    const found: Over[] = []
    for (const { managed, sessionId } of this.#above(id)) {
      const use = managed?.budget && budgetUse(managed.budget, await this.#deps.used(sessionId))
      const state = this.#deps.engine.session(sessionId)
      if (state && use && managed.budget?.usd !== undefined)
        await this.#tellUnpriced(state, managed.budget.usd)
      if (!use || use.level === 'ok' || !state) continue
      const over = { name: managed.name, sessionId, use }
      await tell(this.#deps, state, use)
      if (use.level === 'exceeded') found.push(over)
    }
    for (const over of found) this.#stop(over)
    return found[0]
  }

  /** Calls back when the budget of a session or of one above it is used up, until it is disposed of. */
  watch(sessionId: SessionId, onOver: (over: Over) => void): Disposable {
    const watcher = { sessionId, tell: onOver }
    this.#watchers.add(watcher)
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) }
  }

  /** Which model a CLI uses may be known only from its first call: a limit that cannot be kept is told, once for each model. */
  async #tellUnpriced(state: Readonly<SessionState>, limit: number): Promise<void> {
    const { engine, unpriced, used } = this.#deps
    const root = openRoot(state)
    if (!root) return
    for (const model of await unpriced(state.sessionId)) {
      const detail = `${noPrice([model])}; ${priceCure}`
      const spent = (await used(state.sessionId)).usd ?? 0
      await engine.propose({
        items: [
          draftOf(root, 'budget.warning', {
            budget: 'usd',
            used: spent,
            limit,
            scope: state.managed?.name,
            detail,
          }),
        ],
        by: muster.by,
        producer: { id: `budget:${state.sessionId}:unpriced:${model}`, epoch: 1, n: 1 },
      })
    }
  }

  #stop(over: Over): void {
    for (const { sessionId, tell: told } of this.#watchers)
      if (this.#above(sessionId).some((state) => state.sessionId === over.sessionId)) told(over)
  }

  /** A session and those above it, as far as they are open. */
  #above(from: SessionId): Readonly<SessionState>[] {
    const states: Readonly<SessionState>[] = []
    let id: SessionId | undefined = from
    for (let i = 0; id && i < deepest; i++) {
      const state = this.#deps.engine.session(id)
      if (state) states.push(state)
      id = state?.parentSessionId
    }
    return states
  }
}

function openRoot(state: Readonly<SessionState>): Root | undefined {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!span || !state.traceId) return undefined
  const { sessionId, traceId } = state
  return { sessionId, traceId, runId: span.runId, spanId: span.spanId, actor: 'muster' }
}

async function tell(
  { engine, ids }: BudgetDeps,
  state: Readonly<SessionState>,
  use: BudgetUse,
): Promise<void> {
  const root = openRoot(state)
  if (!root) return
  const { budget, limit } = use
  const name = state.managed?.name ?? 'the session'
  const told = { budget, used: use.used, limit, scope: name }
  // A workflow is over with its budget, and nobody is asked whether what has ended shall go on.
  const isOver = state.managed?.origin === 'workflow'
  const action = isOver ? 'stopped' : 'stopped at the next boundary'
  const asked = draftOf({ ...root, spanId: ids.span(), parentSpanId: root.spanId }, 'approval.requested', {
    approvalId: `apr_${ids.event().slice(4)}`,
    subject: 'budget',
    action: `${name} has used up its budget: ${amountOf(use)}. Grant the same amount again?`,
    risk: 'medium',
    options: ['approve', 'reject'],
  })
  const items =
    use.level === 'warning'
      ? [draftOf(root, 'budget.warning', told)]
      : [
          draftOf(root, 'budget.exceeded', { ...told, action }),
          draftOf(root, 'progress.checkpoint', { message: `Budget used up: ${amountOf(use)}` }),
          ...(isOver ? [] : [asked]),
        ]
  // One producer for each size and level: the same finding again is a repeat and adds nothing.
  await engine.propose({
    items,
    by: muster.by,
    producer: { id: `budget:${state.sessionId}:${budget}:${limit}:${use.level}`, epoch: 1, n: 1 },
  })
}

/** How far a budget is used, in words. */
export const amountOf = ({ budget, used, limit }: Omit<BudgetUse, 'level'>): string =>
  budget === 'usd' ? `${dollars(used)} of ${dollars(limit)}` : `${used} of ${limit} tokens`

/** Less than a cent is something too. */
const dollars = (amount: number): string => `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`

const lookMs = 1000

type Working = { readonly untilMs: number; readonly isWaiting: () => boolean }

/** Resolves when the time for a piece of work is over; the clock stands still while it waits for a person. */
export async function workTime(
  clock: Clock,
  { untilMs, isWaiting }: Working,
  signal: AbortSignal,
): Promise<void> {
  let endMs = untilMs
  for (;;) {
    const now = clock.now()
    const stands = isWaiting()
    if (now >= endMs && !stands) return
    await clock.sleep(stands ? lookMs : Math.min(lookMs, endMs - now), signal)
    if (stands) endMs += clock.now() - now
  }
}

/** Why work was stopped that took too long; by these words it is known again after a crash. */
export const lateReason = ({ timeoutMs }: { readonly timeoutMs: number }): string =>
  `it took longer than ${timeoutMs / 60_000} min`
