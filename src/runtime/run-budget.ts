import { tokenTotal } from '../core/ledger/model-usage.ts'
import { amountOf } from '../engine/budgets.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './parts.ts'
import type { Recorder } from './recorder.ts'

const minuteMs = 60_000

/** Why a run has to stop: its agent's budget, its time, or the budget of its session or of one above it is used up. */
export async function overBudget(
  { clock, budgets }: Pick<RuntimeParts, 'clock' | 'budgets'>,
  run: LiveRun,
  recorder: Recorder,
): Promise<string | undefined> {
  const { tokens, minutes } = run.agent.budget ?? {}
  const used = tokenTotal(run.usage)
  const exceeded = (budget: 'tokens' | 'time', spent: number, limit: number): string => {
    const scope = run.agentId
    recorder.record([
      draftOf(run.root, 'budget.exceeded', { budget, used: spent, limit, scope, action: 'stopped' }),
    ])
    return budget === 'tokens'
      ? `it used ${spent} tokens of the ${limit} that ${scope} may use`
      : `it took longer than the ${minutes} minutes that ${scope} may take`
  }
  if (tokens !== undefined && used >= tokens) return exceeded('tokens', used, tokens)
  const tookMs = clock.now() - run.startedMs
  if (minutes !== undefined && tookMs >= minutes * minuteMs)
    return exceeded('time', tookMs, minutes * minuteMs)
  const { sessionId } = run.root
  if (!budgets.isBound(sessionId)) return undefined
  // What it used itself counts too, before it uses more. A run that cannot be recorded is stopped by that.
  await recorder.durable().catch(() => {})
  const over = await budgets.over(sessionId)
  return (
    over && `the budget of ${over.name} is used up (${amountOf(over.use)}); more is given with: sm budget`
  )
}
