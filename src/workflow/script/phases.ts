import { derivedSpan } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { ScriptCall } from '../../contract/script.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'

type Call<K extends ScriptCall['kind']> = Extract<ScriptCall, { kind: K }>
type Open = {
  readonly key: string
  readonly name: string
  readonly isBlock: boolean
  readonly spanId: SpanId
  readonly tokens: number
}

/** The phases of a script: one after the other, each with a beginning and one end. */
export class Phases {
  readonly #flow: Flow
  readonly #names: readonly string[]
  readonly #parentSpanId: SpanId
  #open: Open | undefined
  #answered = 0
  #outputCount: number

  constructor(
    flow: Flow,
    { names, under, inputCount }: { names: readonly string[]; under: SpanId; inputCount: number },
  ) {
    this.#flow = flow
    this.#names = names
    this.#parentSpanId = under
    this.#outputCount = inputCount
  }

  /** The span that agents and claims hang under now. */
  get spanId(): SpanId {
    return this.#open?.spanId ?? this.#parentSpanId
  }

  /** An agent of the phase gave its answer. */
  answered(): void {
    this.#answered += 1
  }

  async begin({ name, path, isBlock, inputCount = this.#outputCount }: Call<'phase'>): Promise<void> {
    const flow = this.#flow
    if (!this.#names.includes(name))
      throw new AppError(
        'invalid',
        `${name} is none of the phases in meta (${this.#names.join(', ') || 'there are none'}); add it there`,
      )
    if (this.#open?.isBlock)
      throw new AppError('invalid', `phase ${this.#open.name} has not ended; ${name} can begin after it`)
    await this.end({ outputCount: this.#answered })
    flow.setPhase(name)
    const spanId = derivedSpan(`${flow.id} ${path}`)
    const { workflowId } = flow.root()
    const tokens = await flow.step(
      `${path}:begin`,
      async ({ tell }) => {
        const place = this.#place(spanId)
        tell(draftOf(place, 'workflow.phase.started', { workflowId, phase: name, inputCount }))
        return flow.spent().tokens
      },
      { again: true },
    )
    this.#open = { key: path, name, isBlock, spanId, tokens }
    this.#answered = 0
  }

  /** Ends the phase that is open, if one is. */
  async end({ outputCount, error }: { outputCount: number; error?: string | undefined }): Promise<void> {
    const open = this.#open
    if (!open) return
    const flow = this.#flow
    const { workflowId } = flow.root()
    const { key, name: phase, spanId } = open
    this.#open = undefined
    this.#outputCount = outputCount
    await flow.step(
      `${key}:end`,
      async ({ tell }) => {
        const tokens = Math.max(0, flow.spent().tokens - open.tokens)
        const place = this.#place(spanId)
        tell(
          error === undefined
            ? draftOf(place, 'workflow.phase.completed', { workflowId, phase, outputCount, tokens })
            : draftOf(place, 'workflow.phase.failed', { workflowId, phase, error, tokens }),
        )
      },
      { again: true },
    )
  }

  #place(spanId: SpanId): FlowRoot & { readonly parentSpanId: SpanId } {
    return { ...this.#flow.root(), spanId, parentSpanId: this.#parentSpanId }
  }
}
