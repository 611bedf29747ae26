import { bodyText } from '../../contract/body-text.ts'
import { CrewOutcome } from '../../contract/collaboration/crew-report.ts'
import type { EventOf } from '../../contract/event.ts'
import type { WorkflowOutcome } from '../../contract/values.ts'

/** The facts that end a workflow. */
export const workflowEnds = ['workflow.finalized', 'workflow.failed', 'workflow.cancelled'] as const

/** How a workflow ended, and why when it did not give what was asked for. */
type WorkflowEnd = { readonly outcome: WorkflowOutcome; readonly why?: string }

/** Why what a workflow gave is not what was asked for. */
type Shortfall = { readonly outcome: 'failed' | 'rejected'; readonly reason: string }

/** The one reading of how a workflow ended: lists, pages, sessions, files and exit codes all show this. */
export function workflowOutcome(event: EventOf<(typeof workflowEnds)[number]>): WorkflowEnd {
  switch (event.type) {
    case 'workflow.finalized': {
      const shortfall = shortfallOf(event.payload.result)
      return shortfall ? { outcome: shortfall.outcome, why: shortfall.reason } : { outcome: 'completed' }
    }
    case 'workflow.failed': {
      const { outcome = 'failed', reason, error } = event.payload
      return { outcome, why: reason ?? bodyText(error) ?? '' }
    }
    default: {
      const { reason } = event.payload
      return { outcome: 'cancelled', ...(reason !== undefined && { why: reason }) }
    }
  }
}

/** What a crew gave: nothing to land is a failure, and what was done and not accepted is rejected. */
export function crewShortfall({
  outcome,
  summary,
}: {
  readonly outcome: CrewOutcome
  readonly summary: string
}): Shortfall | undefined {
  if (outcome === 'approved' || outcome === 'force_approved') return undefined
  return { outcome: outcome === 'unapproved' ? 'rejected' : 'failed', reason: summary }
}

/** What came of landing a branch; the branch stays where it is when a person does not want it. */
export function landShortfall({
  landed,
  why,
}: {
  readonly landed: string | null
  readonly why?: string | undefined
}): Shortfall | undefined {
  return landed === null
    ? { outcome: 'rejected', reason: `its work was not landed: ${why ?? 'a person rejected it'}` }
    : undefined
}

/** Journals of before say of every workflow that came to its end that it is done; what it gave tells more. */
function shortfallOf(result: unknown): Shortfall | undefined {
  const { report, landed, why } = (result ?? {}) as { report?: unknown; landed?: unknown; why?: unknown }
  if (landed === null) return landShortfall({ landed, ...(typeof why === 'string' && { why }) })
  const { outcome, summary } = (report ?? {}) as { outcome?: unknown; summary?: unknown }
  const known = CrewOutcome.safeParse(outcome)
  return known.success ? crewShortfall({ outcome: known.data, summary: bodyText(summary) ?? '' }) : undefined
}
