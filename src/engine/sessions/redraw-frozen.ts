import type { PaneRef } from '../../ports/terminal.ts'
import type { Parts } from './parts.ts'
import type { Seen } from './read-screen.ts'
import type { SessionWatch } from './watch.ts'

/** What works, cannot be read or is in the way of a message moves, or is drawn anew after the first time; then not again before the second. */
const frozenMs = 5000
const againMs = 30_000

type Still = { readonly text: string; readonly since: number; redrawnAt: number }

const still = new WeakMap<SessionWatch, Still>()

/**
 * A CLI and its terminal may count the cells of a character differently; then what is drawn lands in the wrong rows,
 * and a sign of work, half a box or a few letters in it stay there for good. Such a screen does not move: its program is
 * told to draw again. A box that shows the same text after that is a person's, and is left in peace.
 */
export async function redrawFrozen(
  parts: Parts,
  { watch, pane, seen }: { readonly watch: SessionWatch; readonly pane: PaneRef; readonly seen: Seen },
  signal: AbortSignal,
): Promise<void> {
  const { composer, dialog, isWorking } = seen.reading
  const isInTheWay = composer.state === 'text' && (watch.state()?.queue ?? []).length > 0
  const isOdd = !dialog && (isWorking || composer.state === 'none' || isInTheWay)
  const text = isOdd ? seen.screen.lines.join('\n') : ''
  const now = parts.clock.now()
  const known = still.get(watch)
  if (!known || known.text !== text) {
    still.set(watch, { text, since: now, redrawnAt: known?.redrawnAt ?? Number.NEGATIVE_INFINITY })
    return
  }
  if (!isOdd || now - known.since < frozenMs || now - known.redrawnAt < againMs) return
  if (isInTheWay && !isWorking && known.redrawnAt > known.since) return
  known.redrawnAt = now
  await parts.terminal.redraw(pane, signal)
}
