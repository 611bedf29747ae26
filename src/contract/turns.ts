/** One act after another for each name: an end must not meet the start that follows it. */
export class Turns<Name> {
  readonly #last = new Map<Name, Promise<unknown>>()

  async take<T>(name: Name, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const work = (async () => {
      await before?.catch(() => {})
      return act()
    })()
    this.#last.set(name, work)
    try {
      return await work
    } finally {
      if (this.#last.get(name) === work) this.#last.delete(name)
    }
  }

  /** Waits for what is under way by now, however it ends. */
  async settled(name: Name): Promise<void> {
    await this.#last.get(name)?.catch(() => {})
  }
}
