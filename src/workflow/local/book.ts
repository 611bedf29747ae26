import { AppError, type ErrorCode } from '../../contract/errors.ts'
import type { AgentEvent, Draft } from '../../contract/event.ts'
import { withSignal } from '../../contract/linked.ts'
import type { Engine } from '../../engine/engine.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import type { Vault } from '../../ports/storage.ts'

export type BookDeps = { readonly engine: Engine; readonly vault: Vault }

/** What came of a step. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** How many agents, and how many tokens they used. */
export type Counted = { readonly agents: number; readonly tokens: number }

const nobody: Counted = { agents: 0, tokens: 0 }

/** How a step ended. */
type Ended = { readonly outcome: Outcome; readonly counted?: Counted }

export const bookTypes = ['workflow.checkpoint.saved', 'workflow.signalled'] as const

/** What one workflow has done, by the path of each step, and what it was told; kept in the journal and the vault. */
export class Book {
  readonly #deps: BookDeps
  /** The name under which the vault keeps what a step gave; nothing when it gave nothing. */
  readonly #done = new Map<string, string | undefined>()
  readonly #taken = new Set<string>()
  readonly #told = new Map<string, (string | undefined)[]>()
  #wake = Promise.withResolvers<void>()
  #counted: Counted = { agents: 0, tokens: 0 }

  constructor(deps: BookDeps) {
    this.#deps = deps
  }

  /** Takes in what was written before; events in their order. */
  read(event: AgentEvent): void {
    if (event.type === 'workflow.signalled') this.#hear(event.payload.topic, event.payload.vault)
    if (event.type !== 'workflow.checkpoint.saved' || event.payload.step === undefined) return
    const { step, vault, agents = 0, tokens = 0, forkOf } = event.payload
    this.#set(step, vault, forkOf)
    this.#add({ agents, tokens })
  }

  has(step: string): boolean {
    return this.#done.has(step)
  }

  /** Whether it was done by the run that this one is a fork of, and not here since. */
  isTaken(step: string): boolean {
    return this.#taken.has(step)
  }

  /** The steps that are done, in the order in which they ended. */
  steps(): string[] {
    return [...this.#done.keys()]
  }

  /** The agents of all steps that are done, and what they used. */
  get counted(): Counted {
    return this.#counted
  }

  /** What came of a step; nothing when it has not ended yet. */
  async outcome(step: string): Promise<Outcome | undefined> {
    if (!this.#done.has(step)) return undefined
    const name = this.#done.get(step)
    if (name === undefined) return { value: undefined }
    const kept = (await this.#open(name, step)) as Kept
    return 'error' in kept ? { error: new AppError(kept.error.code, kept.error.message) } : kept
  }

  /** Writes the end of a step together with its facts; after that it is never done again. */
  async keep(
    root: FlowRoot,
    step: string,
    { facts, counted = nobody, ...ended }: Ended & { readonly facts: readonly Draft[] },
  ): Promise<void> {
    const { draft, name } = await this.#saved(root, step, { counted, ...ended })
    // Facts without their step would be told once more when it is done again, and refused then.
    await this.#deps.engine.perform([...facts, draft], undefined, 'whole')
    this.#set(step, name, undefined)
    this.#add(counted)
  }

  /** Takes a step along from another run; what is answered is to be written together with the start of this one. */
  async copyStep(root: FlowRoot, step: string, ended: Ended & { readonly forkOf: string }): Promise<Draft> {
    const { draft, name } = await this.#saved(root, step, ended)
    this.#set(step, name, ended.forkOf)
    return draft
  }

  async #saved(
    root: FlowRoot,
    step: string,
    { outcome, counted = nobody, forkOf }: Ended & { readonly forkOf?: string },
  ): Promise<{ readonly draft: Draft; readonly name: string | undefined }> {
    const kept = keptOf(outcome)
    const bytes = kept && bytesOf(kept)
    const name = bytes && (await this.#deps.vault.put(bytes, root.sessionId))
    const { workflowId, phase } = root
    const draft = draftOf(root, 'workflow.checkpoint.saved', {
      workflowId,
      phase,
      stateBytes: bytes?.length ?? 0,
      step,
      ...(name && { vault: name }),
      ...(kept && 'error' in kept && { error: kept.error.message }),
      ...(counted.agents > 0 && counted),
      ...(forkOf !== undefined && { forkOf }),
    })
    return { draft, name }
  }

  /** Writes what was told under a topic. */
  async tell(
    root: FlowRoot,
    { topic, value, facts = [] }: { topic: string; value: unknown; facts?: readonly Draft[] },
  ): Promise<void> {
    const { engine, vault } = this.#deps
    const name = value === undefined ? undefined : await vault.put(bytesOf(value), root.sessionId)
    const { workflowId } = root
    const said = draftOf(root, 'workflow.signalled', { workflowId, topic, ...(name && { vault: name }) })
    // A decision that is written without what it was about would be nobody's to give again.
    await engine.perform([...facts, said], undefined, 'whole')
    this.#hear(topic, name)
  }

  /** The n-th thing that was told under a topic, once there is one. */
  async heard(topic: string, n: number, signal: AbortSignal): Promise<unknown> {
    for (;;) {
      const names = this.#told.get(topic) ?? []
      if (n < names.length) {
        const name = names[n]
        return name === undefined ? undefined : this.#open(name, topic)
      }
      await withSignal(this.#wake.promise, signal)
    }
  }

  #set(step: string, name: string | undefined, forkOf: string | undefined): void {
    this.#done.set(step, name)
    if (forkOf === undefined) this.#taken.delete(step)
    else this.#taken.add(step)
  }

  #add({ agents, tokens }: Counted): void {
    this.#counted = { agents: this.#counted.agents + agents, tokens: this.#counted.tokens + tokens }
  }

  #hear(topic: string, name: string | undefined): void {
    const told = this.#told.get(topic)
    if (told) told.push(name)
    else this.#told.set(topic, [name])
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  async #open(name: string, what: string): Promise<unknown> {
    const bytes = await this.#deps.vault.get(name).catch(() => undefined)
    if (!bytes)
      throw new AppError(
        'conflict',
        `it cannot continue: the result of ${what} is no longer in the vault; fork it from an earlier step`,
      )
    return JSON.parse(new TextDecoder().decode(bytes))
  }
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))

/** An outcome as the vault keeps it: what kind of refusal it was matters to whoever catches it. */
type Kept = { readonly value: unknown } | { readonly error: { code: ErrorCode; message: string } }

function keptOf(outcome: Outcome): Kept | undefined {
  if ('value' in outcome) return outcome.value === undefined ? undefined : outcome
  const { error } = outcome
  const message = error instanceof Error ? error.message : String(error)
  return { error: { code: error instanceof AppError ? error.code : 'failed', message } }
}
