import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Flow, type FlowRoot, LimitReached } from '../../ports/durable.ts'

/** What a stage gave, and how many things that is. */
export type Staged<T> = { readonly value: T; readonly count: number }

/** The stages of a procedure: each is a phase of the workflow with a node in it, and has one end. */
export class Stages {
  readonly #flow: Flow
  readonly #clock: Clock
  readonly took: { readonly phase: string; readonly durationMs: number }[] = []

  constructor(flow: Flow, clock: Clock) {
    this.#flow = flow
    this.#clock = clock
  }

  /** Runs a stage; what is done in it hangs under its node. */
  async run<T>(
    phase: string,
    { key = phase, inputCount }: { readonly key?: string; readonly inputCount: number },
    act: (at: FlowRoot) => Promise<Staged<T>>,
  ): Promise<T> {
    const flow = this.#flow
    flow.setPhase(phase)
    const root = flow.root()
    const { workflowId } = root
    const span = { spanId: derivedSpan(`${flow.id} phase ${key}`), parentSpanId: root.spanId }
    const node = { ...root, spanId: derivedSpan(`${flow.id} node ${key}`), parentSpanId: span.spanId }
    const begun = await flow.step(`enter:${key}`, async ({ tell }) => {
      tell(
        draftOf({ ...root, ...span }, 'workflow.phase.started', { workflowId, phase, inputCount }),
        draftOf(node, 'workflow.node.enter', { workflowId, node: key }),
      )
      return { atMs: this.#clock.now(), tokens: flow.spent().tokens }
    })
    const ended = async (error: unknown, count: number): Promise<number> =>
      flow.step(`exit:${key}`, async ({ tell }) => {
        const tokens = Math.max(0, flow.spent().tokens - begun.tokens)
        const text = error instanceof Error ? error.message : String(error)
        tell(
          draftOf(node, 'workflow.node.exit', {
            workflowId,
            node: key,
            outcome: error === undefined ? 'ok' : 'failed',
          }),
          error === undefined
            ? draftOf({ ...root, ...span }, 'workflow.phase.completed', {
                workflowId,
                phase,
                outputCount: count,
                tokens,
              })
            : draftOf({ ...root, ...span }, 'workflow.phase.failed', {
                workflowId,
                phase,
                error: text,
                tokens,
              }),
        )
        return this.#clock.now()
      })
    try {
      const { value, count } = await act(node)
      this.took.push({ phase: key, durationMs: Math.max(0, (await ended(undefined, count)) - begun.atMs) })
      return value
    } catch (error) {
      // Who was just done when a limit stopped the others still says so, and its task must be open for that.
      if (error instanceof LimitReached) await flow.quiet()
      if (!flow.signal.aborted) await ended(error, 0)
      throw error
    }
  }
}
