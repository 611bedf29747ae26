import { ChildAgentsConfig } from '../../src/contract/config/session-settings.ts'
import { completionScore } from '../../src/core/session/evidence/completion.ts'
import { type Evidence, noEvidence } from '../../src/core/session/evidence/evidence.ts'
import { observe } from '../../src/core/session/evidence/observe.ts'
import { judge, type Verdict } from '../../src/core/session/evidence/verdict.ts'
import type { CorpusCase } from './corpus-case.ts'

/** What was concluded of one case, and in which fields that differs from its label. */
export type Outcome = {
  readonly verdict: Verdict
  readonly complete: boolean
  readonly wrong: readonly string[]
}

// Far from zero, as real times are.
const epoch = 1_794_769_000_000

export function evidenceOf({ signals }: CorpusCase): Evidence {
  return signals.map((signal) => shift(signal)).reduce(observe, noEvidence)
}

function shift(signal: CorpusCase['signals'][number]): typeof signal {
  const at = signal.at + epoch
  if (signal.kind !== 'turn-failed' || signal.limit?.resetsAtMs === undefined) return { ...signal, at }
  return { ...signal, at, limit: { resetsAtMs: signal.limit.resetsAtMs + epoch } }
}

export function evaluate(one: CorpusCase): Outcome {
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
  const evidence = evidenceOf(one)
  const now = one.now + epoch
  const resumedAt = config.resumedAt === undefined ? {} : { resumedAt: config.resumedAt + epoch }
  const verdict = judge(evidence, {
    now,
    idleAfterMs: idleTimeoutSeconds * 1000,
    ...(config.startedAt !== undefined && { startedAt: config.startedAt + epoch }),
    ...resumedAt,
  })
  const { isComplete } = completionScore(
    {
      evidence,
      verdict,
      config: settings,
      ...(config.milestone !== undefined && { milestone: { message: config.milestone } }),
      ...(config.children !== undefined && { runningChildren: config.children }),
      ...resumedAt,
    },
    now,
  )
  const found = { ...verdict, waitingFor: verdict.waitingFor ?? 'none', complete: isComplete }
  const wrong = (['lifecycle', 'activity', 'waitingFor', 'health', 'complete'] as const).filter(
    (field) => expected[field] !== undefined && expected[field] !== found[field],
  )
  return { verdict, complete: isComplete, wrong }
}
