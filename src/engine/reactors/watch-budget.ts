import type { EventType } from '../../contract/event.ts'
import type { Budgets } from '../budgets.ts'
import type { Reactor } from '../react.ts'

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
