import { AppError } from '../../contract/errors.ts'
import type { Fact } from '../../contract/event.ts'
import type { SessionId, SpanId } from '../../contract/ids.ts'
import { muster } from '../../contract/principal.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../ports/clock.ts'
import {
  type FlowPlace,
  type FlowStatus,
  FlowStopped,
  type FlowView,
  type Procedure,
} from '../../ports/durable.ts'
import type { ReadFacts } from '../../ports/facts.ts'
import type { Vault } from '../../ports/storage.ts'
import { Book, bookTypes } from './book.ts'
import { digestOf, firstPhase, type Running } from './local-flow.ts'

/** A workflow as it is recorded. */
export type FlowRecord = Omit<FlowView, 'status'> & {
  readonly status: Exclude<FlowStatus, 'pending'>
  readonly inputDigest: string
}

/** What the local runner is made with. */
export type LocalDeps = {
  readonly engine: Engine
  readonly vault: Vault
  readonly clock: Clock
  readonly procedures: ReadonlyMap<string, Procedure<never, unknown>>
  readonly events: ReadFacts
  /** Workflows that are recorded: one of them, or all. */
  readonly records: (id?: string) => Promise<readonly FlowRecord[]>
  readonly onBug: (error: unknown, where: string) => void
}

/** A workflow that has no end yet, as it was written down. */
export type OpenFlow = { readonly running: Running; readonly input: unknown; readonly phase: string }

/** One that is open, as it was written down; nothing when it has its end, or is history that somebody brought. */
export async function readOpenFlow(
  deps: LocalDeps,
  sessionId: SessionId,
  id: string,
): Promise<OpenFlow | undefined> {
  const state = deps.engine.session(sessionId)
  const open = state?.managed ? [...state.open.values()] : []
  const span = open.find(({ kind, workflowId }) => kind === 'workflow' && workflowId === id)
  if (!span) return undefined
  let running: Running | undefined
  let input: unknown
  let phase = firstPhase
  for await (const event of flowEvents(deps, id, sessionId)) {
    if (event.type === 'workflow.started') {
      const { name = '', version = '', vault } = event.payload
      const { traceId, runId, parentSpanId, actor } = event
      input = await inputOf(deps.vault, vault)
      const at = { sessionId, traceId, runId, spanId: parentSpanId ?? span.spanId, actor }
      const startedMs = Date.parse(event.timestamp)
      running = newRunning(deps, {
        id,
        at,
        spanId: span.spanId,
        name,
        version,
        input,
        startedMs,
        isAgain: true,
      })
    } else {
      running?.book.read(event)
      phase = event.phase ?? phase
    }
  }
  if (!running) throw notBegun(id)
  return { running, input, phase }
}

/** A workflow that is to run here, with an empty book. */
export function newRunning(
  deps: LocalDeps,
  given: {
    readonly id: string
    readonly at: FlowPlace
    readonly spanId: SpanId
    readonly name: string
    readonly version: string
    readonly input: unknown
    readonly startedMs: number
    readonly isAgain: boolean
  },
): Running {
  const controller = new AbortController()
  return {
    ...given,
    digest: digestOf(given.input),
    book: new Book(deps),
    clock: deps.clock,
    signal: controller.signal,
    controller,
    halt: (error) => {
      deps.onBug(error, `writing down ${given.id}`)
      controller.abort(new FlowStopped('daemon', muster, 'what it does could not be written down'))
    },
    result: Promise.resolve(),
    left: Promise.resolve(),
    ended: Promise.resolve(),
  }
}

/** What was written of a workflow, oldest first. */
export async function* flowEvents(deps: LocalDeps, id: string, sessionId: SessionId): AsyncIterable<Fact> {
  for await (const event of deps.events(sessionId, ['workflow.started', ...bookTypes]))
    if (event.workflowId === id) yield event
}

/** What others tell of a workflow is not enough to run it. */
export const notBegun = (id: string): AppError =>
  new AppError(
    'conflict',
    `${id} did not begin under this Muster, so nothing of it can be run; start it anew`,
  )

/** What a workflow was begun with, by the name under which the vault keeps it. */
export async function inputOf(vault: Vault, name: string | undefined): Promise<unknown> {
  const bytes = name === undefined ? undefined : await vault.get(name).catch(() => undefined)
  if (!bytes) throw new AppError('conflict', 'its input is no longer in the vault; start it again')
  return (JSON.parse(new TextDecoder().decode(bytes)) as { input?: unknown }).input
}

/** The same of one that is recorded. */
export async function begunWith(
  { events, vault }: LocalDeps,
  { id, sessionId }: FlowRecord,
): Promise<unknown> {
  for await (const event of events(sessionId, ['workflow.started']))
    if (event.type === 'workflow.started' && event.workflowId === id)
      return inputOf(vault, event.payload.vault)
  throw notBegun(id)
}
