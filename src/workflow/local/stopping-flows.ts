import type { Procedure } from '../../ports/durable.ts'
import { begunWith, type FlowRecord, type LocalDeps } from './recorded-flow.ts'

/** Workflows that still do something, also after their end: until they are done, nothing else may take their place. */
export class StoppingFlows {
  readonly #deps: LocalDeps
  readonly #stopping = new Map<string, Promise<void>>()

  constructor(deps: LocalDeps) {
    this.#deps = deps
  }

  /** Resolves when it does nothing any more, if it is here at all. */
  async of(id: string): Promise<void> {
    await this.#stopping.get(id)
  }

  has(id: string): boolean {
    return this.#stopping.has(id)
  }

  /** Resolves when all but these do nothing any more. */
  async allBut(others: { has(id: string): boolean }): Promise<void> {
    await Promise.all([...this.#stopping].flatMap(([id, left]) => (others.has(id) ? [] : [left])))
  }

  add(id: string, left: Promise<void>): void {
    const stopping = left.finally(() => {
      if (this.#stopping.get(id) === stopping) this.#stopping.delete(id)
    })
    this.#stopping.set(id, stopping)
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
