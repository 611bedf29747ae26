import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import type { DeveloperReply } from '../../contract/collaboration/replies.ts'
import type { FailureKind } from './after-failure.ts'
import { failedChecks } from './judge-review.ts'
import { endOf } from './prompts/quoted.ts'

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
      error: `it changed ${outside.slice(0, 10).join(', ')}, which is outside of ${scope.join(', ')}; that was undone`,
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
    error: failed.map(failedCheck).join('; '),
    output: failed.map(({ output = '' }) => endOf(output.trim(), mostOutput)).join('\n\n'),
    isPartial: true,
  }
}

/** A check that failed, in a few words. */
export const failedCheck = ({ name, command, because }: CheckRun): string =>
  `the check ${name} failed${command === undefined ? '' : ` (${command})`}${because === undefined ? '' : `: ${because}`}`

/** All that is known of a failure, for whoever has to do something about it. */
export const failureWords = ({ error, output }: TaskFailure): string =>
  output ? `${error}\nIt printed in the end:\n${output}` : error
