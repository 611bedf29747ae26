import { AppError } from '../../contract/errors.ts'
import type { Draft, PayloadOf } from '../../contract/event.ts'
import type { FlowRoot, ForkWish } from '../../ports/durable.ts'
import { Book } from './book.ts'
import { type FlowRecord, flowEvents, inputOf, type LocalDeps, notBegun } from './recorded-flow.ts'

/** What a fork begins with: the run that it is one of, what that has done, and how much of it is copied. */
export type Fork = {
  readonly forkOf: NonNullable<PayloadOf<'workflow.started'>['forkOf']>
  readonly book: Book
  readonly steps: readonly string[]
}

/** Reads a recorded workflow for a fork of it that does again what comes from a step on. */
export async function readFork(
  deps: LocalDeps,
  { id, sessionId }: FlowRecord,
  { before, input: change = (known) => known }: ForkWish,
): Promise<{ readonly input: unknown; readonly fork: Fork }> {
  const book = new Book(deps)
  let begun: { readonly input: unknown } | undefined
  for await (const event of flowEvents(deps, id, sessionId))
    if (event.type === 'workflow.started') begun = { input: await inputOf(deps.vault, event.payload.vault) }
    else book.read(event)
  if (!begun) throw notBegun(id)
  const steps = book.steps()
  const until = before === undefined ? steps.length : placeOf(steps, before)
  if (until < 0)
    throw new AppError('not_found', `${id} has no step ${before}; it has: ${steps.join(', ') || 'none yet'}`)
  const forkOf = { workflowId: id, ...(before !== undefined && { step: before }) }
  return { input: change(begun.input), fork: { forkOf, book, steps: steps.slice(0, until) } }
}

/** Copies what another run has done into the book of its fork; answers the facts that say so. */
export async function copySteps(into: Book, root: FlowRoot, { forkOf, book, steps }: Fork): Promise<Draft[]> {
  const facts: Draft[] = []
  for (const step of steps) {
    const outcome = await book.outcome(step)
    if (outcome) facts.push(await into.copyStep(root, step, { outcome, forkOf: forkOf.workflowId }))
  }
  return facts
}

/** The first thing that was done of a step, or of a branch: its own steps end before it does. */
const placeOf = (steps: readonly string[], path: string): number =>
  steps.findIndex((step) => step === path || step.startsWith(`${path}/`))
