/** `MUSTER_TEST_SIZE=full`, which `.ci/run` sets: every property test in full and with a fresh seed. */
const isFull = process.env['MUSTER_TEST_SIZE'] === 'full'

/** How much of a test is run: all of it at full size, a sample that is the same each time in a quick run. */
export const sized = (full: number, quick: number): number => (isFull ? full : quick)

/** The parameters of a property: its full number of runs, or the same tenth of them each time. */
export const runs = (full: number): { numRuns: number; seed?: number } =>
  isFull ? { numRuns: full } : { numRuns: Math.max(10, Math.ceil(full / 10)), seed: 1 }

/** The cases of a table: all of them at full size, some from every part of it in a quick run. */
export const sampled = <T>(all: readonly T[], quick: number): T[] =>
  isFull ? [...all] : Array.from({ length: quick }, (_, i) => all[Math.floor((i * all.length) / quick)] as T)
