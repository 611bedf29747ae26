import type { EventType } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { type BudgetUse, budgetUse, type Used } from '../../core/ledger/budget.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Engine } from '../engine.ts'
import type { Reactor } from '../react.ts'
import { draftOf } from '../sessions/drafts.ts'

type Deps = {
  readonly engine: Engine
  readonly ids: Ids
  /** What a session and all below it have used. */
  readonly used: (id: SessionId) => Promise<Used>
}

const types = new Set<EventType>(['llm.request.completed', 'llm.usage.corrected'])
const deepest = 64

/** Warns when a budget is nearly used, and when it is used up asks whether to go on; each once for each size of it. */
export const watchBudget = (deps: Deps): Reactor => ({
  name: 'watch-budget',
  types,
  saved: 'seldom',
  async react(event) {
    let id: SessionId | undefined = event.sessionId
    for (let i = 0; id && i < deepest; i++) {
      const state = deps.engine.session(id)
      if (state?.managed?.budget) await check(deps, state)
      id = state?.parentSessionId
    }
  },
})

async function check({ engine, ids, used }: Deps, state: Readonly<SessionState>): Promise<void> {
  const use = budgetUse(state.managed?.budget, await used(state.sessionId))
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!use || use.level === 'ok' || !span || !state.traceId) return
  const { budget, limit } = use
  const root = {
    sessionId: state.sessionId,
    traceId: state.traceId,
    runId: span.runId,
    spanId: span.spanId,
    actor: 'muster',
  }
  const name = state.managed?.name ?? 'the session'
  const told = { budget, used: use.used, limit, scope: name }
  const items =
    use.level === 'warning'
      ? [draftOf(root, 'budget.warning', told)]
      : [
          draftOf(root, 'budget.exceeded', { ...told, action: 'stopped at the next boundary' }),
          draftOf(root, 'progress.checkpoint', { message: `Budget used up: ${amount(use)}` }),
          draftOf({ ...root, spanId: ids.span(), parentSpanId: root.spanId }, 'approval.requested', {
            approvalId: `apr_${ids.event().slice(4)}`,
            subject: 'budget',
            action: `${name} has used up its budget: ${amount(use)}. Go on with as much again?`,
            risk: 'medium',
            options: ['approve', 'reject'],
          }),
        ]
  // One producer for each size and level: the same finding again is a repeat and adds nothing.
  await engine.propose({
    items,
    principal: { kind: 'operator', channel: 'api' },
    producer: { id: `budget:${state.sessionId}:${budget}:${limit}:${use.level}`, epoch: 1, n: 1 },
  })
}

const amount = ({ budget, used, limit }: BudgetUse): string =>
  budget === 'usd' ? `$${used.toFixed(2)} of $${limit.toFixed(2)}` : `${used} of ${limit} tokens`
