/** Followers waiting for the watermark to pass a seq. */
export class Waiters {
  readonly #waiting = new Set<{ after: number; wake: () => void }>()

  wait(after: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error)
        return
      }
      const abort = () => {
        this.#waiting.delete(entry)
        reject(signal.reason as Error)
      }
      const entry = {
        after,
        wake: () => {
          signal.removeEventListener('abort', abort)
          resolve()
        },
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(entry)
    })
  }

  wake(watermark: number): void {
    for (const entry of this.#waiting)
      if (entry.after < watermark) {
        this.#waiting.delete(entry)
        entry.wake()
      }
  }
}
