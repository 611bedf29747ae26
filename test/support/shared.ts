import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, onTestFinished } from 'vitest'

type End = () => unknown

const ends = new AsyncLocalStorage<End[]>()

/** Ends what was started when its test is over; what several tests share, when their file is. */
export function whenOver(end: End): void {
  const kept = ends.getStore()
  if (kept) kept.push(end)
  else onTestFinished(async () => void (await end()))
}

/** Something that several tests of a file use, such as a daemon: started by the first of them, ended after the last. */
export function shared<T>(start: () => Promise<T>): () => Promise<T> {
  const kept: End[] = []
  let started: Promise<T> | undefined
  afterAll(async () => {
    // What was started last may need what was started before it.
    for (const end of kept.toReversed()) await end()
  })
  return () => {
    started ??= ends.run(kept, start)
    return started
  }
}
