import { linked } from '../../contract/linked.ts'

/** A signal that follows another one, and ends by itself after a time. */
export type Deadline = Disposable & {
  readonly signal: AbortSignal
  /** Whether the time was over before anybody cancelled. */
  isOver(): boolean
}

export function deadline(to: AbortSignal, ms: number): Deadline {
  const link = linked(to)
  let isOver = false
  const timer = setTimeout(() => {
    isOver = !link.signal.aborted
    link.abort()
  }, ms)
  return {
    signal: link.signal,
    isOver: () => isOver,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      link[Symbol.dispose]()
    },
  }
}
