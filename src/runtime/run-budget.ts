import { draftOf } from '../engine/sessions/drafts.ts'
import type { LiveRun } from './live-run.ts'
import type { RuntimeParts } from './parts.ts'
import type { Recorder } from './recorder.ts'

const minuteMs = 60_000

/** Why a run has to stop: its agent's budget, its time, or the budget of its session is used up. */
export function overBudget(
  { engine, clock }: Pick<RuntimeParts, 'engine' | 'clock'>,
  run: LiveRun,
  recorder: Recorder,
): string | undefined {
  const { tokens, minutes } = run.agent.budget ?? {}
  const used = run.usage.total ?? (run.usage.input ?? 0) + (run.usage.output ?? 0)
  const exceeded = (budget: 'tokens' | 'time', spent: number, limit: number): string => {
    const scope = run.agent.name
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
  return engine.session(run.root.sessionId)?.managed?.isSpent
    ? 'the budget of its session is used up; more is given with: sm budget'
    : undefined
}
