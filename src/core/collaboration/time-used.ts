/** What is known of a run at a moment: a sign of life, that a daemon took it up again, or whether it waits for a person. */
export type TimeMark = {
  readonly atMs: number
  readonly is: 'sign' | 'resumed' | 'waiting' | 'at_work'
}

/** How long a run was at work: without the time in which no daemon was there, and without that of a person who was asked. */
export function timeUsed(marks: readonly TimeMark[]): number {
  let used = 0
  let isWaiting = false
  for (const [i, { atMs, is }] of marks.entries()) {
    const last = marks[i - 1]
    // After its last sign of life nobody knows how long a daemon that was killed was still there.
    if (last && !isWaiting && is !== 'resumed') used += Math.max(0, atMs - last.atMs)
    if (is === 'waiting' || is === 'at_work') isWaiting = is === 'waiting'
  }
  return used
}
