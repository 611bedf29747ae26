import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import {
  FailureAction as Actions,
  type DeveloperReply,
  type FailureAction,
  type FailureReply,
} from '../../contract/collaboration/replies.ts'
import { endOf } from './prompt-parts.ts'
import { failedChecks, failedCheckWords } from './required-checks.ts'

/** Why a task is not done, in a word and in a sentence. */
export type TaskFailure = {
  readonly kind: FailureKind
  readonly error: string
  /** The end of what a command printed, where one showed it. */
  readonly output?: string
  /** There is work to build on: where nobody tries again it goes to the review as a part of the task. */
  readonly isPartial?: true
}

/** All that tells whether an attempt was good: how its agent ended, what it said, and what git shows. */
type Tried = {
  readonly end: {
    readonly status: 'completed' | 'failed' | 'timeout'
    readonly reason?: string | undefined
    readonly isSpent?: boolean
  }
  readonly reply: Pick<DeveloperReply, 'status' | 'summary'> | undefined
  readonly scope: readonly string[]
  /** Files that were changed outside of the scope. */
  readonly outside: readonly string[]
  /** Files that still have conflicts. */
  readonly left: readonly string[]
}

/** Why an attempt failed; nothing when it did not. What git shows counts before what anybody says. */
export function taskFailure({ end, reply, scope, outside, left }: Tried): TaskFailure | undefined {
  if (outside.length > 0)
    return {
      kind: 'scope_violation',
      error: `it changed ${outside.slice(0, 10).join(', ')}, which is outside ${scope.join(', ')}; that was undone`,
    }
  if (end.status === 'timeout')
    return { kind: 'timeout', error: end.reason ?? 'it took too long', isPartial: true }
  if (end.status === 'failed') {
    const error = end.reason ?? 'it failed'
    return { kind: end.isSpent ? 'resource_limit' : 'exception', error }
  }
  if (left.length > 0) return { kind: 'exception', error: `conflicts are left in ${left.join(', ')}` }
  if (reply?.status === 'failed')
    return { kind: 'exception', error: reply.summary || 'the developer gave up' }
  return undefined
}

const mostOutput = 2000

/** Work that says it is done, and does not compile or pass its tests; what does not count against it is not required. */
export function failureOfChecks(checks: readonly CheckRun[]): TaskFailure | undefined {
  const failed = failedChecks(checks)
  if (failed.length === 0) return undefined
  return {
    kind: 'exception',
    error: failed.map(failedCheckWords).join('; '),
    output: failed.map(({ output = '' }) => endOf(output.trim(), mostOutput)).join('\n\n'),
    isPartial: true,
  }
}

/** All that is known of a failure, for whoever has to do something about it. */
export const failureWords = ({ error, output }: TaskFailure): string =>
  output ? `${error}\nIt printed in the end:\n${output}` : error

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
  /** What the architect said, or why it gave no answer, when it was asked. */
  readonly asked?: Consulted<FailureReply> | undefined
}

/** What somebody who was asked to decide said, or why they gave no answer that can be used. */
export type Consulted<T> = { readonly reply: T } | { readonly silent: string }

/** Why the rules decided, where somebody else might have. */
export const byTheRules = (asked: Consulted<unknown> | undefined, reason: string): string =>
  asked && 'silent' in asked
    ? `the architect gave no answer that can be used (${asked.silent.replaceAll(/\s+/g, ' ').slice(0, 300)}), so the rules decided: ${reason}`
    : `there is no architect, so the rules decided: ${reason}`

/** A choice as `decision.made` records it. */
export type Decision = {
  readonly subject: 'approach' | 'retry'
  readonly candidates: readonly string[]
  readonly choice: string
  readonly reason: string
}

type AfterFailure = {
  readonly action: FailureAction
  /** How long the next attempt may take. */
  readonly limitMs: number
  /** What the next developer is told about this attempt. */
  readonly feedback: string
  readonly decision: Decision
  /** Nobody was there to decide, or what they said is not allowed. */
  readonly isByRules: boolean
}

const maxAttempts = 3
const longestMs = 60 * 60_000

/** What to do about a task that failed: as the architect says within the limits, else by the kind of failure. */
export function afterFailure(failure: Failure): AfterFailure {
  const { action, reason, isByRules } = chosen(failure)
  const isLonger = failure.kind === 'timeout' && (action === 'retry' || action === 'reassign')
  return {
    action,
    limitMs: isLonger ? Math.max(failure.limitMs, Math.min(longestMs, failure.limitMs * 2)) : failure.limitMs,
    feedback: feedbackFor(failure),
    decision: { subject: 'retry', candidates: Actions.options, choice: action, reason },
    isByRules,
  }
}

/** What a failed task says of itself in `task.failed`. */
export const suggestedAction = (kind: FailureKind, attempt: number): 'retry' | 'reassign' | 'abort' => {
  const { action } = byKind({ kind, attempt, canSplit: true })
  return action === 'split' ? 'reassign' : action
}

type Choice = { readonly action: FailureAction; readonly reason: string; readonly isByRules: boolean }

function chosen(failure: Failure): Choice {
  const { attempt, asked } = failure
  if (!asked || 'silent' in asked) {
    const { action, reason } = byKind(failure)
    return { action, reason: byTheRules(asked, reason), isByRules: true }
  }
  const { action, reason } = asked.reply
  if (action !== 'abort' && attempt >= maxAttempts)
    return {
      action: 'abort',
      reason: `the architect said ${action}, but ${attempt} attempts have failed and ${maxAttempts} are allowed`,
      isByRules: true,
    }
  return { action, reason: `the architect decided: ${reason}`, isByRules: false }
}

function byKind({
  kind,
  attempt,
  canSplit,
}: Pick<Failure, 'kind' | 'attempt' | 'canSplit'>): Omit<Choice, 'isByRules'> {
  const tries = { timeout: maxAttempts, scope_violation: 2, resource_limit: 2, exception: 2 }[kind]
  if (attempt >= tries)
    return { action: 'abort', reason: `${words[kind]}, and attempt ${attempt} was the last` }
  if (kind === 'resource_limit' && !canSplit)
    return {
      action: 'retry',
      reason: 'it used up its budget, and nobody can split it; it should do less at a time',
    }
  return { ...first[kind] }
}

const words = {
  timeout: 'it took too long',
  scope_violation: 'it changed files outside its scope',
  resource_limit: 'it used up its budget',
  exception: 'it failed',
} as const

const first = {
  timeout: { action: 'retry', reason: 'it took too long; it is tried again with a longer limit' },
  scope_violation: {
    action: 'retry',
    reason:
      'it changed files outside its scope; the work is refused and tried again with the scope spelled out',
  },
  resource_limit: { action: 'split', reason: 'it used up its budget; the task will be split' },
  exception: { action: 'retry', reason: 'it failed; it is tried once more' },
} as const satisfies Record<FailureKind, Omit<Choice, 'isByRules'>>

function feedbackFor({ kind, scope }: Failure): string {
  if (kind === 'timeout') return 'the attempt took too long and was stopped; what it left is in the work tree'
  if (kind === 'scope_violation')
    return `the attempt changed files outside its scope and was refused; change only ${scope.join(', ')}`
  if (kind === 'resource_limit') return 'the attempt used up its budget; do less at a time'
  return 'the attempt ended in an error'
}

type Missing = {
  readonly failure?: Pick<TaskFailure, 'error'> | undefined
  readonly blockers?: readonly string[] | undefined
  readonly summary?: string | undefined
}

/** What is missing of a task that is partly done: why it was stopped, or what its developer said. */
export const whatIsMissing = ({ failure, blockers, summary }: Missing): string =>
  failure?.error ?? (blockers?.join('; ') || summary || 'it does not say what is missing')
