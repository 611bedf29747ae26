import type { Draft, PayloadOf } from '../../contract/event.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import type { Book } from './book.ts'

/** What a fork begins with: the run that it is one of, what that has done, and how much of it is taken along. */
export type Fork = {
  readonly forkOf: NonNullable<PayloadOf<'workflow.started'>['forkOf']>
  readonly book: Book
  readonly steps: readonly string[]
}

/** Puts what another run has done into the book of its fork; answers the facts that say so. */
export async function takenAlong(
  into: Book,
  root: FlowRoot,
  { forkOf, book, steps }: Fork,
): Promise<Draft[]> {
  const facts: Draft[] = []
  for (const step of steps) {
    const outcome = await book.outcome(step)
    if (outcome) facts.push(await into.takeAlong(root, step, { outcome, forkOf: forkOf.workflowId }))
  }
  return facts
}

/** The first thing that was done of a step, or of a branch: its own steps end before it does. */
export const placeOf = (steps: readonly string[], path: string): number =>
  steps.findIndex((step) => step === path || step.startsWith(`${path}/`))
