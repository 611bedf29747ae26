import { ChildAgentsConfig } from '../../src/contract/config/session-settings.ts'
import { completionScore } from '../../src/core/session/evidence/completion.ts'
import type { CorpusCase } from './corpus-case.ts'
import { type Shown, shownIn } from './shown.ts'

/** What was shown of one case, and in which fields that differs from its label. */
export type Outcome = {
  readonly shown: Shown
  readonly complete: boolean
  readonly wrong: readonly string[]
}

export async function evaluate(one: CorpusCase): Promise<Outcome> {
  const { config = {}, expected } = one
  const { mode = 'auto', idleTimeoutSeconds = 600, detectPhrases = true, patterns } = config
  const settings = ChildAgentsConfig.parse({
    mode,
    auto_complete: {
      idle_timeout: idleTimeoutSeconds,
      detect_completion_phrases: detectPhrases,
      ...(patterns && { completion_patterns: patterns }),
    },
  })
  const shown = await shownIn(one, settings)
  const { verdict, evidence, nowMs, resumedAtMs } = shown
  const { isComplete } = completionScore(
    {
      evidence,
      verdict,
      config: settings,
      ...(config.milestone !== undefined && { milestone: { message: config.milestone } }),
      ...(config.children !== undefined && { runningChildren: config.children }),
      ...(resumedAtMs !== undefined && { resumedAt: resumedAtMs }),
    },
    nowMs,
  )
  const found = { ...shown, waitingFor: shown.waitingFor ?? 'none', complete: isComplete }
  const wrong = (['lifecycle', 'activity', 'waitingFor', 'health', 'complete'] as const).filter(
    (field) => expected[field] !== undefined && expected[field] !== found[field],
  )
  return { shown, complete: isComplete, wrong }
}
