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

const fileEnds: End[] = []

/** Ends something with the file that made it, in a test or outside of one: modules outlive the files of one worker. */
export function afterFile(end: End): void {
  fileEnds.push(end)
}

/** Called by the set-up of every file. */
export async function endFile(): Promise<void> {
  for (const end of fileEnds.splice(0)) await end()
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

/** Runs what is no test, such as a campaign, and then ends what was started in it. */
export async function untilOver<T>(work: () => Promise<T>): Promise<T> {
  const kept: End[] = []
  try {
    return await ends.run(kept, work)
  } finally {
    for (const end of kept.toReversed()) await end()
  }
}
