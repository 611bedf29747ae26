import { derivedSpan } from '../../contract/derived-ids.ts'
import type { Draft } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'

/** What a phase gave, how many things that is, and where it leads when there are several ways. */
export type PhaseResult<T> = { readonly value: T; readonly count: number; readonly edge?: string }

/** Ends what a phase has left under way when it failed; `write` takes what is said of that together with its end. */
export type Failing = (error: unknown, write: (facts: readonly Draft[]) => Promise<void>) => Promise<void>

type Ended = {
  readonly error?: unknown
  readonly count?: number
  readonly edge?: string | undefined
  readonly facts?: readonly Draft[]
}

type PhasesOf = {
  readonly flow: Flow
  readonly clock: Clock
  /** The span that they hang under, the workflow's own when left out. */
  readonly under?: SpanId
}

/** The phases of a crew: each has a node in it, under which its work hangs, and one end. */
export class CrewPhases {
  readonly #flow: Flow
  readonly #clock: Clock
  readonly #under: SpanId | undefined
  readonly #failing: Failing
  readonly took: { readonly phase: string; readonly durationMs: number }[] = []

  constructor({ flow, clock, under }: PhasesOf, failing: Failing = (_, write) => write([])) {
    this.#flow = flow
    this.#clock = clock
    this.#under = under
    this.#failing = failing
  }

  /** Runs a phase; what is done in it hangs under its node. */
  async run<T>(
    phase: string,
    { key = phase, inputCount }: { readonly key?: string; readonly inputCount: number },
    act: (at: FlowRoot) => Promise<PhaseResult<T>>,
  ): Promise<T> {
    const flow = this.#flow
    flow.setPhase(phase)
    const root = flow.root()
    const { workflowId } = root
    const span = { spanId: derivedSpan(`${flow.id} phase ${key}`), parentSpanId: this.#under ?? root.spanId }
    const node = { ...root, spanId: derivedSpan(`${flow.id} node ${key}`), parentSpanId: span.spanId }
    const begun = await flow.step(`enter:${key}`, async ({ tell }) => {
      tell(
        draftOf({ ...root, ...span }, 'workflow.phase.started', { workflowId, phase, inputCount }),
        draftOf(node, 'workflow.node.enter', { workflowId, node: key }),
      )
      return { atMs: this.#clock.now(), tokens: flow.spent().tokens }
    })
    const ended = async ({ error, count = 0, edge, facts = [] }: Ended): Promise<number> =>
      flow.step(`exit:${key}`, async ({ tell }) => {
        const tokens = Math.max(0, flow.spent().tokens - begun.tokens)
        const text = error instanceof Error ? error.message : String(error)
        tell(
          ...facts,
          draftOf(node, 'workflow.node.exit', {
            workflowId,
            node: key,
            outcome: error === undefined ? 'ok' : 'failed',
            ...(edge !== undefined && { edge }),
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
      const { value, count, edge } = await act(node)
      this.took.push({ phase: key, durationMs: Math.max(0, (await ended({ count, edge })) - begun.atMs) })
      return value
    } catch (error) {
      if (!flow.signal.aborted)
        await this.#failing(error, async (facts) => void (await ended({ error, facts })))
      throw error
    }
  }
}
