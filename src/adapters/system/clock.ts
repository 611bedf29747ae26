import type { Clock } from '../../ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  // Node's own promise makes an error with a stack for each wait that is cut short, which most of them are.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const stop = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal.addEventListener('abort', stop, { once: true })
    }),
}
