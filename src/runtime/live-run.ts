import type * as z from 'zod'
import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { Config } from '../contract/config.ts'
import type { RunId, SpanId } from '../contract/ids.ts'
import type { Asker } from '../contract/principal.ts'
import type { LiveStatus } from '../contract/status-phrases.ts'
import type { Tokens } from '../contract/values.ts'
import type { Root } from '../engine/sessions/drafts.ts'
import type { ModelPiece } from '../ports/model.ts'
import type { SeenBefore } from '../ports/tools.ts'
import type { RuntimeParts, TextStream } from './runtime-parts.ts'

type Usage = z.infer<typeof Tokens>

/** What one model call used, and what that costs when its model has a price. */
export type CallUse = { readonly usage: Usage; readonly costUsd?: number | undefined }

/** Why a run was ended from outside. `daemon` leaves it open: it is taken up, or failed, at the next start. */
export class RunStopped extends Error {
  override readonly name = 'RunStopped'
  readonly how: 'cancelled' | 'killed' | 'daemon'
  readonly by: Asker

  constructor(how: 'cancelled' | 'killed' | 'daemon', by: Asker, reason: string) {
    super(reason)
    this.how = how
    this.by = by
  }
}

/** Where the events of a run belong; each says which run it works for. */
type RunRoot = Root & { readonly parentRunId?: RunId }

/** A run that is under way, and those that work for it. */
export class LiveRun {
  readonly root: RunRoot
  readonly parentSpanId: SpanId
  readonly agent: AgentDefinition
  /** Who it is, where several play the same role. */
  readonly agentId: string
  readonly parent: LiveRun | undefined
  readonly startedMs: number
  /** What it read and wrote before it was cut off. */
  readonly seenBefore: readonly SeenBefore[]
  readonly children = new Set<LiveRun>()
  /** It is one turn of a run that goes on after it, under this name; its run is opened and ended elsewhere. */
  readonly turn: SpanId | undefined
  /** Files that it reads and changes, with the time of the last touch. */
  readonly files = new Map<string, number>()
  /** What its last words are held to. */
  readonly resultSchema: string
  /** What its status says; nothing once something else was told of it, a question for one. */
  status: LiveStatus | undefined
  /** The settings that it began with, those of its project among them. */
  settings: Config['runtime'] | undefined
  readonly #controller = new AbortController()
  readonly #done = Promise.withResolvers<void>()
  #usage: Usage = {}
  #costUsd = 0
  #hasChanged = false

  constructor(given: {
    readonly root: RunRoot
    readonly parentSpanId: SpanId
    readonly agent: AgentDefinition
    readonly agentId?: string
    readonly parent?: LiveRun
    readonly startedMs: number
    readonly seenBefore?: readonly SeenBefore[]
    readonly resultSchema?: string
    readonly turn?: SpanId
  }) {
    this.root = given.root
    this.parentSpanId = given.parentSpanId
    this.agent = given.agent
    this.agentId = given.agentId ?? given.agent.name
    this.parent = given.parent
    this.startedMs = given.startedMs
    this.seenBefore = given.seenBefore ?? []
    this.turn = given.turn
    this.resultSchema = given.resultSchema ?? 'text'
    given.parent?.children.add(this)
  }

  get runId(): RunId {
    return this.root.runId
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Resolves when its end is written. */
  get done(): Promise<void> {
    return this.#done.promise
  }

  get usage(): Usage {
    return this.#usage
  }

  /** What it has spent, as far as its models have a price. */
  get costUsd(): number {
    return this.#costUsd
  }

  get hasChanged(): boolean {
    return this.#hasChanged
  }

  /** What a child uses its parent uses too. */
  used({ usage, costUsd = 0 }: CallUse): void {
    const sum = (name: keyof Usage) => (this.#usage[name] ?? 0) + (usage[name] ?? 0)
    const names = [...new Set([...Object.keys(this.#usage), ...Object.keys(usage)])] as (keyof Usage)[]
    this.#usage = Object.fromEntries(names.map((name) => [name, sum(name)]))
    this.#costUsd += costUsd
    this.parent?.used({ usage, costUsd })
  }

  changed(): void {
    this.#hasChanged = true
    this.parent?.changed()
  }

  /** Ends it and all that works for it, the deepest first. */
  stop(why: RunStopped): void {
    for (const child of this.children) child.stop(why)
    this.#controller.abort(why)
  }

  /** It and all below it that are still under way. */
  tree(): LiveRun[] {
    return [this, ...[...this.children].flatMap((child) => child.tree())]
  }

  finished(): void {
    this.parent?.children.delete(this)
    this.#done.resolve()
  }
}

/** Passes what a model says on to whoever watches, as it is said. */
export function streamWords(
  { textStream, onToken }: Pick<RuntimeParts, 'textStream' | 'onToken'>,
  run: LiveRun,
): { readonly piece: (piece: ModelPiece) => void; readonly turnEnds: () => void } {
  let streams: { text: TextStream; thinking: TextStream } | undefined
  const say = (kind: 'text' | 'thinking', token: string, isDone = false) => {
    if (token === '' && !isDone) return
    const { sessionId, runId, actor: agentId } = run.root
    onToken({
      sessionId,
      runId,
      agentId,
      token,
      ...(kind === 'thinking' && { thinking: true }),
      ...(isDone && { done: true }),
    })
  }
  return {
    piece(piece) {
      if (piece.kind === 'call') return
      streams ??= { text: textStream(), thinking: textStream() }
      say(piece.kind, streams[piece.kind].push(piece.delta))
    },
    turnEnds() {
      if (!streams) return
      say('thinking', streams.thinking.end())
      say('text', streams.text.end(), true)
      streams = undefined
    },
  }
}
