/** A controller that also aborts when another signal does; dispose it to let go of that signal. */
export type Linked = AbortController & Disposable

/** Made once: an error of its own for each would cost more than what it ends. */
const letGo = new DOMException('nobody is waiting for it any more', 'AbortError')

/**
 * Follows another signal. `AbortSignal.any` is not used anywhere: Node 24 can lose an abort of it
 * when the garbage collector comes between.
 */
export function linked(to: AbortSignal): Linked {
  const controller = new AbortController()
  const follow = () => controller.abort(to.reason)
  if (to.aborted) follow()
  else to.addEventListener('abort', follow, { once: true })
  return Object.assign(controller, {
    [Symbol.dispose]: () => {
      to.removeEventListener('abort', follow)
      controller.abort(letGo)
    },
  })
}

/** Waits for something as long as the signal allows. */
export function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
