import { systemClock } from '../adapters/system/clock.ts'
import { cursorFiles } from '../adapters/system/cursor-files.ts'
import { type Parked, type Reactor, type ReactorReport, ReactorRun } from '../engine/react.ts'
import type { JournalReader } from '../ports/journal.ts'

/** Starts every reactor along the journal; `stop` waits until each has saved its cursor. */
export async function startReactors(
  reactors: readonly Reactor[],
  deps: {
    journal: JournalReader
    cursorDir: string
    onBug: (error: unknown, where: string) => void
    onParked: (follower: string, parked: Parked) => void
  },
): Promise<{ reports(): ReactorReport[]; stop(): Promise<void> }> {
  const cursors = await cursorFiles(deps.cursorDir)
  const stopping = new AbortController()
  const runs = reactors.map(
    (reactor) =>
      new ReactorRun(reactor, {
        journal: deps.journal,
        cursors,
        clock: systemClock,
        onStuck: (error) => deps.onBug(error, `reactor ${reactor.name}`),
        onParked: (parked) => deps.onParked(reactor.name, parked),
      }),
  )
  const ended = runs.map((run) =>
    run.run(stopping.signal).catch((error: unknown) => deps.onBug(error, `reactor ${run.report().name}`)),
  )
  return {
    reports: () => runs.map((run) => run.report()),
    async stop() {
      stopping.abort()
      await Promise.all(ended)
    },
  }
}
