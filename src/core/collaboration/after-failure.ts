import type { FailureAction, FailureReply } from '../../contract/collaboration/replies.ts'
import { FailureAction as Actions } from '../../contract/collaboration/replies.ts'
import type { Decision } from './after-review.ts'

/** The ways in which a task can go wrong. */
export type FailureKind = 'timeout' | 'exception' | 'scope_violation' | 'resource_limit'

type Failure = {
  readonly kind: FailureKind
  /** Which attempt failed, from 1. */
  readonly attempt: number
  readonly limitMs: number
  readonly scope: readonly string[]
  /** Whether there is somebody who can cut the task into smaller ones. */
  readonly canSplit: boolean
  /** What the architect said, when it was asked. */
  readonly asked?: FailureReply
}

export type AfterFailure = {
  readonly action: FailureAction
  /** How long the next attempt may take. */
  readonly limitMs: number
  /** What the next developer is told about this attempt. */
  readonly feedback: string
  readonly decision: Decision
}

const maxAttempts = 3
const longestMs = 60 * 60_000

/** What to do about a task that failed: as the architect says within the limits, else by the kind of failure. */
export function afterFailure(failure: Failure): AfterFailure {
  const { action, reason } = chosen(failure)
  const isLonger = failure.kind === 'timeout' && (action === 'retry' || action === 'reassign')
  return {
    action,
    limitMs: isLonger ? Math.max(failure.limitMs, Math.min(longestMs, failure.limitMs * 2)) : failure.limitMs,
    feedback: feedbackFor(failure),
    decision: { subject: 'retry', candidates: Actions.options, choice: action, reason },
  }
}

/** What a failed task says of itself in `task.failed`. */
export const suggestedAction = (kind: FailureKind, attempt: number): 'retry' | 'reassign' | 'abort' => {
  const { action } = byKind({ kind, attempt, canSplit: true })
  return action === 'split' ? 'reassign' : action
}

type Choice = { readonly action: FailureAction; readonly reason: string }

function chosen(failure: Failure): Choice {
  const { attempt, asked } = failure
  if (!asked) return byKind(failure)
  if (asked.action !== 'abort' && attempt >= maxAttempts)
    return {
      action: 'abort',
      reason: `the architect said ${asked.action}, but ${attempt} attempts have failed and ${maxAttempts} are allowed`,
    }
  return { action: asked.action, reason: `the architect decided: ${asked.reason}` }
}

function byKind({ kind, attempt, canSplit }: Pick<Failure, 'kind' | 'attempt' | 'canSplit'>): Choice {
  const tries = { timeout: maxAttempts, scope_violation: 2, resource_limit: 2, exception: 2 }[kind]
  if (attempt >= tries)
    return { action: 'abort', reason: `${words[kind]}, and attempt ${attempt} was the last` }
  if (kind === 'resource_limit' && !canSplit)
    return {
      action: 'retry',
      reason: 'it used up its budget, and nobody can split it; it is to do less at a time',
    }
  return { ...first[kind] }
}

const words = {
  timeout: 'it took too long',
  scope_violation: 'it changed files outside of its scope',
  resource_limit: 'it used up its budget',
  exception: 'it failed',
} as const

const first = {
  timeout: { action: 'retry', reason: 'it took too long; it is tried again with a longer limit' },
  scope_violation: {
    action: 'retry',
    reason: 'it changed files outside of its scope; the work is refused and tried again with the scope named',
  },
  resource_limit: { action: 'split', reason: 'it used up its budget; the task is to be split' },
  exception: { action: 'retry', reason: 'it failed; it is tried once more' },
} as const satisfies Record<FailureKind, Choice>

function feedbackFor({ kind, scope }: Failure): string {
  if (kind === 'timeout') return 'the attempt took too long and was stopped; what it left is in the work tree'
  if (kind === 'scope_violation')
    return `the attempt changed files outside of its scope and was refused; change only ${scope.join(', ')}`
  if (kind === 'resource_limit') return 'the attempt used up its budget; do less at a time'
  return 'the attempt ended in an error'
}
