import type { DeveloperReply } from '../../contract/collaboration/replies.ts'
import type { FailureKind } from './after-failure.ts'

/** Why a task is not done, in a word and in a sentence. */
export type TaskFailure = { readonly kind: FailureKind; readonly error: string }

/** All that tells whether an attempt was good: how its agent ended, what it said, and what git shows. */
type Tried = {
  readonly end: {
    readonly status: 'completed' | 'failed' | 'timeout'
    readonly reason?: string | undefined
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
  if (end.status === 'timeout') return { kind: 'timeout', error: end.reason ?? 'it took too long' }
  if (end.status === 'failed') {
    const error = end.reason ?? 'it failed'
    return { kind: /budget|tokens of the/.test(error) ? 'resource_limit' : 'exception', error }
  }
  if (left.length > 0) return { kind: 'exception', error: `conflicts are left in ${left.join(', ')}` }
  if (reply?.status === 'failed')
    return { kind: 'exception', error: reply.summary || 'the developer gave up' }
  return undefined
}
