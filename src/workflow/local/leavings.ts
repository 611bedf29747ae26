import { AppError } from '../../contract/errors.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { Vault } from '../../ports/storage.ts'
import type { FlowRecord, LocalDeps } from './local-durable.ts'

/** Workflows that still do something, also after their end: until they have left nothing else may take their place. */
export class Leavings {
  readonly #deps: LocalDeps
  readonly #leaving = new Map<string, Promise<void>>()

  constructor(deps: LocalDeps) {
    this.#deps = deps
  }

  /** Resolves when it has left, if it is here at all. */
  async of(id: string): Promise<void> {
    await this.#leaving.get(id)
  }

  has(id: string): boolean {
    return this.#leaving.has(id)
  }

  /** Resolves when all have left but these. */
  async allBut(others: { has(id: string): boolean }): Promise<void> {
    await Promise.all([...this.#leaving].flatMap(([id, left]) => (others.has(id) ? [] : [left])))
  }

  add(id: string, left: Promise<void>): void {
    const leaving = left.finally(() => {
      if (this.#leaving.get(id) === leaving) this.#leaving.delete(id)
    })
    this.#leaving.set(id, leaving)
  }

  /** Puts away what an earlier daemon did not: it was killed after it had written that they were called off. */
  async clear({ name, leftovers }: Procedure<never, unknown>): Promise<void> {
    if (!leftovers) return
    try {
      for (const id of await leftovers.ids()) {
        const [record] = await this.#deps.records(id)
        if (record?.name === name && record.status === 'cancelled') this.putAway(record)
      }
    } catch (error) {
      this.#deps.onBug(error, `looking for what a ${name} left`)
    }
  }

  /** Puts away what one left that was called off. */
  putAway(record: FlowRecord): void {
    const { id, name } = record
    const { leftovers } = this.#deps.procedures.get(name) ?? {}
    if (!leftovers || this.has(id)) return
    const work = begunWith(this.#deps, record).then((input) => leftovers.putAway(id, input as never))
    this.add(
      id,
      work.catch((error: unknown) => this.#deps.onBug(error, `putting away what ${id} left`)),
    )
  }
}

/** What a workflow was begun with, by the name under which the vault keeps it. */
export async function inputOf(vault: Vault, name: string | undefined): Promise<unknown> {
  const bytes = name === undefined ? undefined : await vault.get(name).catch(() => undefined)
  if (!bytes)
    throw new AppError('conflict', 'what it was begun with is no longer in the vault; begin it anew')
  return (JSON.parse(new TextDecoder().decode(bytes)) as { input?: unknown }).input
}

/** The same of one that is recorded. */
async function begunWith(
  { events, vault }: Pick<LocalDeps, 'events' | 'vault'>,
  { id, sessionId }: FlowRecord,
): Promise<unknown> {
  for await (const event of events(sessionId, ['workflow.started']))
    if (event.type === 'workflow.started' && event.workflowId === id)
      return inputOf(vault, event.payload.vault)
  throw new Error(`the beginning of ${id} is not in the journal`)
}
