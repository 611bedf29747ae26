import type { AgentCliName } from '../../contract/config/names.ts'
import type { Screen } from '../../contract/screen.ts'
import type { ScreenReading } from '../../contract/signal.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import type { Parts } from './parts.ts'
import { paneOf } from './place.ts'
import { redrawFrozen } from './redraw-frozen.ts'
import type { SessionWatch } from './watch.ts'

/** What a screen of a program that nobody has rules for looked like last, by session. */
const last = new WeakMap<SessionWatch, string>()

/** A screen and what it says. */
export type Seen = { readonly screen: Screen; readonly reading: ScreenReading }

/** Where a session's program shows itself, if it has a terminal. */
export function paneOfWatch(watch: SessionWatch): PaneRef | undefined {
  const place = watch.state()?.managed?.place
  return place && paneOf(place)
}

/** Reads the screen of a session by the rules of its CLI. Of a program of the user's own only change is known. */
export async function readScreen(
  parts: Parts,
  watch: SessionWatch,
  signal: AbortSignal,
): Promise<Seen | undefined> {
  const managed = watch.state()?.managed
  const pane = paneOfWatch(watch)
  if (!managed || !pane) return undefined
  const screen = await parts.terminal.capture(pane, signal)
  if (managed.cli !== 'custom') {
    const { dialect } = parts.clis[managed.cli as AgentCliName]
    const seen = { screen, reading: dialect.screen(screen, managed.cliVersion ?? '') }
    await redrawFrozen(parts, { watch, pane, seen }, signal)
    return seen
  }
  const text = screen.lines.join('\n')
  const isWorking = last.has(watch) && last.get(watch) !== text
  last.set(watch, text)
  return { screen, reading: { composer: { state: 'empty' }, isWorking } }
}
