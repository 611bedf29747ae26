/** What a program on the terminal is made of. */
export type LoopParts<M, I, S extends { readonly model: M }> = {
  readonly model: M
  readonly reduce: (model: M, input: I) => S
  /** Does what a step asks for besides the new model. */
  readonly act: (step: S) => void
  readonly draw: (model: M) => void
  /** False while another program has the terminal: nothing is drawn, and time does not count. */
  readonly isShown: () => boolean
  /** Tells the model the time, as often as that shows. */
  readonly tick: () => I
  readonly tickMs: (model: M) => number
}

/** Takes inputs one by one into a model; all that came at once is one drawing. */
export class Loop<M, I, S extends { readonly model: M }> {
  readonly #parts: LoopParts<M, I, S>
  readonly #over = Promise.withResolvers<void>()
  #model: M
  #isDrawDue = false
  #ticking: NodeJS.Timeout | undefined

  constructor(parts: LoopParts<M, I, S>) {
    this.#parts = parts
    this.#model = parts.model
  }

  get model(): M {
    return this.#model
  }

  /** Resolves when somebody leaves; a bug rejects it, so that it is told on a terminal that can be read. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  readonly leave = (): void => this.#over.resolve()

  readonly fail = (error: unknown): void => this.#over.reject(error)

  take(input: I): void {
    try {
      const before = this.#model
      const step = this.#parts.reduce(before, input)
      this.#model = step.model
      this.#parts.act(step)
      if (step.model !== before) this.drawSoon()
    } catch (error) {
      this.fail(error)
    }
  }

  start(): void {
    const { isShown, tick, tickMs } = this.#parts
    this.#ticking = setTimeout(() => {
      if (isShown()) this.take(tick())
      this.start()
    }, tickMs(this.#model))
  }

  stop(): void {
    clearTimeout(this.#ticking)
  }

  drawSoon(): void {
    if (this.#isDrawDue) return
    this.#isDrawDue = true
    setImmediate(() => {
      this.#isDrawDue = false
      this.draw()
    })
  }

  draw(): void {
    if (!this.#parts.isShown()) return
    try {
      this.#parts.draw(this.#model)
    } catch (error) {
      this.fail(error)
    }
  }
}
