import { derivedIds, type ImportIds } from '../../contract/derived-ids.ts'
import type { Draft, EventType, PayloadOf } from '../../contract/event.ts'
import type { RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type { Billing } from '../../contract/values.ts'
import { toolCategory } from '../delegation/tool-category.ts'
import { isRecord } from '../json/json-value.ts'
import { ReportedCosts } from '../ledger/model-usage.ts'
import type { PriceBook } from '../ledger/price-book.ts'
import { UntoldCalls } from '../ledger/untold-calls.ts'

/** Where the facts of a session belong. */
export type FactOrigin = {
  readonly sessionId: SessionId
  readonly traceId: TraceId
  readonly sessionSpan: SpanId
  readonly actor: string
  /** Whether what its CLI says it has spent began at nothing. */
  readonly isNew: boolean
  /** What a call costs by the price list; nothing for a CLI that tells its cost itself. */
  readonly estimate?: PriceBook['estimate']
}

/** The run that a fact belongs to. */
export type FactRun = { readonly runId: RunId; readonly spanId: SpanId }

/** Which gate refused a call, and whether the call stands in the journal as begun. */
export type DeniedCall = Pick<PayloadOf<'tool.call.denied'>, 'gate' | 'reason' | 'rule'> & {
  readonly isOpen: boolean
}

const mostPreview = 2000
const maxResponses = 20_000
const mostKnown = 1000

/** What is known of a subagent in the process of a CLI. */
type KnownAgent = {
  readonly callId?: string
  readonly depth: number
  readonly isBackground: boolean
  readonly isOver: boolean
}

type AgentEnd = 'agent.completed' | 'agent.failed' | 'agent.cancelled'

/** Forgets the oldest. */
function bound(known: Map<string, unknown>): void {
  const oldest = known.size > mostKnown ? known.keys().next().value : undefined
  if (oldest !== undefined) known.delete(oldest)
}

/**
 * Turns what a CLI's record says into events. Ids are derived from the CLI's own, so that the same
 * record read again gives the same events and nothing is counted twice.
 */
export class Facts {
  readonly #place: FactOrigin
  readonly #ids: ImportIds
  readonly #usage = new Map<string, string>()
  readonly #costs: ReportedCosts
  readonly #untold = new UntoldCalls()
  readonly #denied = new Set<string>()
  readonly #agents = new Map<string, KnownAgent>()
  /** Calls that have begun and not ended, by who made them: a subagent, or the session itself. */
  readonly #calls = new Map<string, string | undefined>()
  #billing: Billing | undefined

  constructor(place: FactOrigin) {
    this.#place = place
    this.#costs = new ReportedCosts(place.isNew)
    this.#ids = derivedIds(place.sessionId, 0)
  }

  /** Takes in what a signal says of money; that there is no run yet to lay it upon must not lose it. */
  see(signal: Signal, isRecorded = false): void {
    if (signal.kind === 'usage') {
      this.#costs.used(signal, isRecorded)
      this.#untold.used(signal)
    }
    if (signal.kind !== 'meter') return
    if (signal.costUsd !== undefined) this.#costs.told(signal.costUsd)
    this.#billing = signal.billing ?? this.#billing
  }

  /** A call that was refused: its record may tell of it before or after, and tells nothing new then. */
  denied(signal: SignalOf<'tool-start'>, run: FactRun, { isOpen, ...refusal }: DeniedCall): Draft[] {
    const own = signal.agent === undefined ? run : this.agentRun(signal.agent)
    const { callId, tool } = signal
    this.#denied.add(callId)
    const span = this.#ids.span(`call:${callId}`)
    const denied = this.#draft('tool.call.denied', signal, {
      run: own,
      span,
      payload: { callId, tool, ...refusal },
    })
    return isOpen ? [denied] : [this.#toolStarted(signal, own), denied]
  }

  /** The events of a signal, in order; none for a signal that is only a sign. */
  of(signal: Signal, run: FactRun, isEnded = false): Draft[] {
    const own = signal.agent === undefined ? run : this.agentRun(signal.agent)
    if ('callId' in signal && signal.callId !== undefined && this.#denied.has(signal.callId)) return []
    switch (signal.kind) {
      case 'tool-start':
        this.#calls.set(signal.callId, signal.agent)
        bound(this.#calls)
        return [this.#toolStarted(signal, own)]
      case 'tool-end':
        this.#calls.delete(signal.callId)
        return [...(signal.ok ? [] : this.#unanswered(signal)), this.#toolEnded(signal, own)]
      case 'usage':
        return [...this.#used(signal, own, isEnded), ...this.#priced(signal, own)]
      case 'totals':
        return this.#untold.of(signal).flatMap((rest) => this.#used(rest, own, isEnded))
      case 'meter':
        return this.#priced(signal, own)
      case 'subagent-start':
        return this.#spawned(signal, run)
      case 'subagent-end':
        return this.#returned(signal)
      case 'compacted':
        return [
          this.#draft('context.compacted', signal, {
            run: own,
            payload: {
              ...(signal.trigger && { trigger: signal.trigger }),
              ...(signal.before !== undefined && { tokensBefore: signal.before }),
              ...(signal.after !== undefined && { tokensAfter: signal.after }),
            },
          }),
        ]
      default:
        return []
    }
  }

  /** The run of a subagent of the CLI's own. */
  agentRun(agent: string): FactRun {
    return { runId: this.#ids.run(`agent:${agent}`), spanId: this.#ids.span(`agent:${agent}`) }
  }

  #toolStarted(signal: SignalOf<'tool-start'>, run: FactRun): Draft {
    return this.#draft('tool.call.started', signal, {
      run,
      span: this.#ids.span(`call:${signal.callId}`),
      payload: {
        callId: signal.callId,
        tool: signal.tool,
        category: toolCategory(signal.tool, signal.input),
        ...(isRecord(signal.input) && { params: signal.input }),
      },
    })
  }

  #toolEnded(signal: SignalOf<'tool-end'>, run: FactRun): Draft {
    const ended = {
      callId: signal.callId,
      tool: signal.tool ?? 'unknown',
      ...(signal.durationMs !== undefined && { durationMs: signal.durationMs }),
    }
    const span = this.#ids.span(`call:${signal.callId}`)
    return signal.ok
      ? this.#draft('tool.call.completed', signal, {
          run,
          span,
          payload: { ...ended, ...(signal.output !== undefined && { result: signal.output }) },
        })
      : this.#draft('tool.call.failed', signal, {
          run,
          span,
          payload: {
            ...ended,
            ...(signal.error !== undefined && { error: signal.error }),
            ...(signal.isInterrupt && { reason: 'interrupted' }),
          },
        })
  }

  /** A program that said it is done still ends its turn: what that cost counts, though nothing new begins. */
  #used(signal: SignalOf<'usage'>, run: FactRun, isEnded: boolean): Draft[] {
    const { responseId, model, usage } = signal
    const text = JSON.stringify(usage)
    const before = this.#usage.get(responseId)
    if (before === text) return []
    if (this.#usage.size >= maxResponses) this.#usage.delete(this.#usage.keys().next().value as string)
    this.#usage.set(responseId, text)
    const money = { ...this.#place.estimate?.(model, usage), ...this.#billed() }
    if (before !== undefined || isEnded)
      return [
        this.#draft('llm.usage.corrected', signal, {
          run,
          payload: { responseId, model, usage, ...money, source: 'transcript' },
        }),
      ]
    const span = this.#ids.span(`response:${responseId}`)
    return [
      this.#draft('llm.request.started', signal, { run, span, payload: { model } }),
      this.#draft('llm.request.completed', signal, {
        run,
        span,
        payload: {
          responseId,
          model,
          usage,
          ...money,
          source: signal.source === 'transcript' ? 'transcript' : 'hook',
          ...(signal.finishReason && { finishReason: signal.finishReason }),
        },
      }),
    ]
  }

  /** The price of the last response, as far as the CLI's own sum has grown since the one before. */
  #priced(signal: Signal, run: FactRun): Draft[] {
    const call = this.#costs.take()
    if (!call) return []
    const payload = { ...call, ...this.#billed(), source: 'status line' }
    return [this.#draft('llm.usage.corrected', signal, { run, payload })]
  }

  #billed(): { readonly billing?: Billing } {
    return this.#billing === undefined ? {} : { billing: this.#billing }
  }

  /** A turn that ends takes those along that it waited for: one that ends well has their answers. */
  turnEnds(type: AgentEnd, at: Pick<Signal, 'source' | 'at'>): Draft[] {
    return [...this.#agents].flatMap(([agentId, { isOver, isBackground, callId }]) => {
      const isAwaited = !isBackground || (type !== 'agent.completed' && this.#calls.has(callId ?? ''))
      return isOver || !isAwaited ? [] : [this.#ended(type, agentId, { at, says: {} })]
    })
  }

  /** Told by its own record and by that of whoever started it: it begins once, and works for whoever made the call. */
  #spawned(signal: SignalOf<'subagent-start'>, turn: FactRun): Draft[] {
    const { agentId, agentType, description, callId, isBackground = false } = signal
    const known = this.#agents.get(agentId)
    if (known) {
      if (isBackground) this.#agents.set(agentId, { ...known, isBackground })
      return []
    }
    const caller = signal.agent ?? this.#calls.get(callId ?? '')
    const depth = caller === undefined ? 1 : (this.#agents.get(caller)?.depth ?? 1) + 1
    this.#agents.set(agentId, { depth, isBackground, isOver: false, ...(callId && { callId }) })
    bound(this.#agents)
    const run = this.agentRun(agentId)
    const parent = caller === undefined ? turn : this.agentRun(caller)
    return [
      this.#draft('agent.spawned', signal, {
        run,
        span: run.spanId,
        // Below the turn's span it would be ended with the turn.
        parentRun: isBackground ? { ...parent, spanId: this.#place.sessionSpan } : parent,
        payload: {
          agentId,
          agentType: agentType || 'subagent',
          kind: 'subagent',
          depth,
          ...(description && { agentTask: description.slice(0, mostPreview) }),
          ...(callId && { triggeredByCallId: callId }),
        },
      }),
    ]
  }

  #returned(signal: SignalOf<'subagent-end'>): Draft[] {
    const { agentId, text, how } = signal
    if (this.#agents.get(agentId)?.isOver) return []
    const says = { ...(text && { detail: text.slice(0, mostPreview) }) }
    return [
      this.#ended(how === undefined ? 'agent.completed' : `agent.${how}`, agentId, { at: signal, says }),
    ]
  }

  /** The call that started it was refused, broken off or failed: nobody takes its answer any more. */
  #unanswered(signal: SignalOf<'tool-end'>): Draft[] {
    const { callId, error, isInterrupt } = signal
    const says = { ...(error && { reason: error.replaceAll(/\s+/g, ' ').slice(0, 1000) }) }
    return [...this.#agents].flatMap(([agentId, known]) =>
      known.callId === callId && !known.isOver
        ? [this.#ended(isInterrupt ? 'agent.cancelled' : 'agent.failed', agentId, { at: signal, says })]
        : [],
    )
  }

  #ended(
    type: AgentEnd,
    agentId: string,
    { at, says }: { at: Pick<Signal, 'source' | 'at'>; says: { detail?: string; reason?: string } },
  ): Draft {
    const known = this.#agents.get(agentId)
    this.#agents.set(agentId, { depth: 1, isBackground: false, ...known, isOver: true })
    bound(this.#agents)
    const run = this.agentRun(agentId)
    return this.#draft(type, at, { run, span: run.spanId, payload: { agentId, ...says } })
  }

  #draft<T extends EventType>(
    type: T,
    signal: Pick<Signal, 'at' | 'agent'>,
    about: { run: FactRun; span?: SpanId; parentRun?: FactRun; payload: PayloadOf<T> },
  ): Draft {
    const { run, span, parentRun, payload } = about
    return {
      sessionId: this.#place.sessionId,
      traceId: this.#place.traceId,
      runId: run.runId,
      spanId: span ?? run.spanId,
      parentSpanId: span === run.spanId ? (parentRun?.spanId ?? this.#place.sessionSpan) : run.spanId,
      ...(parentRun && { parentRunId: parentRun.runId }),
      actor: signal.agent ?? this.#place.actor,
      timestamp: new Date(signal.at).toISOString(),
      type,
      payload,
    } as Draft
  }
}
