import type { AgentCliName } from '../../contract/config/names.ts'
import type { Screen } from '../../contract/screen.ts'
import type { ScreenReading } from '../../contract/signal.ts'
import { mayBeMisdrawn } from '../../core/messages/message-text.ts'
import { timeOf } from '../../core/session/evidence/evidence.ts'
import { isTurnToldOpen } from '../../core/session/evidence/turn.ts'
import type { TerminalPlace } from '../../core/session/managed.ts'
import type { PaneInfo, PaneRef } from '../../ports/terminal.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

/** What a screen of a program that nobody has rules for looked like last, by session. */
const last = new WeakMap<SessionWatch, string>()

/** A screen and what it says. */
export type Seen = {
  readonly screen: Screen
  readonly reading: ScreenReading
  /** When to look again, where what is shown may be drawn wrongly and is drawn anew only when it does not move. */
  readonly againMs?: number
  /** It looks like one at rest, and says nothing: its program may stand still, or be writing an answer. */
  readonly isMute?: true
}

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
    const isUnsure = await redrawFrozen(parts, { watch, pane, seen }, signal)
    const isMute = await isNoRest(parts, { watch, pane, seen }, signal)
    return { ...seen, ...(isUnsure && { againMs: unsureMs }), ...(isMute && { isMute }) }
  }
  const text = screen.lines.join('\n')
  const isWorking = last.has(watch) && last.get(watch) !== text
  last.set(watch, text)
  return { screen, reading: { composer: { state: 'empty' }, isWorking } }
}

/** What works, cannot be read or is in the way of a message moves, or is drawn anew after the first time; then not again before the second. */
const patience = { frozenMs: 5000, againMs: 30_000 }
/** What has characters on it that terminals measure differently is drawn wrongly each time they are drawn. */
const little = { frozenMs: 700, againMs: 2000 }

/** A little longer than such a screen has to stand still. */
const unsureMs = little.frozenMs + 100

type Looked = { readonly watch: SessionWatch; readonly pane: PaneRef; readonly seen: Seen }

type Still = { readonly text: string; readonly since: number; redrawnAt: number }

const still = new WeakMap<SessionWatch, Still>()

/**
 * A CLI and its terminal may count the cells of a character differently; then what is drawn lands in the wrong rows,
 * and a sign of work, half a box or a few letters in it stay there for good. Such a screen does not move: its program is
 * told to draw again. A box that shows the same text after that is a person's, and is left in peace. Answers whether
 * what it shows may be drawn wrongly.
 */
async function redrawFrozen(
  parts: Parts,
  { watch, pane, seen }: Looked,
  signal: AbortSignal,
): Promise<boolean> {
  const { composer, dialog, isWorking } = seen.reading
  const isInTheWay = composer.state === 'text' && (watch.state()?.queue ?? []).length > 0
  const isOdd = !dialog && (isWorking || composer.state === 'none' || isInTheWay)
  const text = isOdd ? seen.screen.lines.join('\n') : ''
  const isUnsure = mayBeMisdrawn(text)
  const now = parts.clock.now()
  const known = still.get(watch)
  if (!known || known.text !== text) {
    still.set(watch, { text, since: now, redrawnAt: known?.redrawnAt ?? Number.NEGATIVE_INFINITY })
    return isUnsure
  }
  const { frozenMs, againMs } = isUnsure ? little : patience
  if (!isOdd || now - known.since < frozenMs || now - known.redrawnAt < againMs) return isUnsure
  if (isInTheWay && !isWorking && known.redrawnAt > known.since) return isUnsure
  known.redrawnAt = now
  await parts.terminal.redraw(pane, signal)
  return isUnsure
}

/** So soon after a prompt was taken its work shows; a program that shows none then is told to draw. */
const showsWorkMs = 3000
/** When a screen was drawn is known to the second. */
const drawAgainMs = 2000
/** While an answer is written, a screen may show no work: it moves then. */
const standsMs = 4000

/** What was seen of a program that took a prompt and shows no work. */
type Doubt = {
  readonly promptAt: number
  readonly text: string
  readonly since: number
  readonly asked?: Asked
}

/** When it was told to draw, and what it had drawn before. */
type Asked = { readonly at: number; readonly drawnMs: number }

const doubts = new WeakMap<SessionWatch, Doubt>()

/**
 * A screen at rest, while a turn is open of which an end would be told, is no sign of one in two cases: its program
 * stands still over a long prompt, with the empty box of before on its screen, until it draws when it is told to; or it
 * showed its work and writes an answer now.
 */
async function isNoRest(parts: Parts, { watch, pane, seen }: Looked, signal: AbortSignal): Promise<boolean> {
  const { composer, dialog, isWorking, retry, error, limit } = seen.reading
  const isRest = composer.state !== 'none' && !(dialog ?? retry ?? error ?? limit) && !isWorking
  const { prompt, 'screen-working': worked } = watch.evidence.last
  const { drawnMs, lines } = seen.screen
  if (!isRest || drawnMs === undefined || !prompt || !isTurnToldOpen(watch.evidence)) return false
  const now = parts.clock.now()
  const text = lines.join('\n')
  const before = doubts.get(watch)
  const known = before?.promptAt === prompt.at ? before : undefined
  const since = known?.text === text ? known.since : now
  const doubt: Doubt = { ...known, promptAt: prompt.at, text, since }
  doubts.set(watch, doubt)
  // What moves in the box is a person who types.
  if (timeOf(worked) > prompt.at) return composer.state === 'empty' && now - since < standsMs
  if (now - prompt.at < showsWorkMs) return true
  const { asked } = doubt
  if (asked && drawnMs > asked.drawnMs) return false
  if (asked && now - asked.at < drawAgainMs) return true
  doubts.set(watch, { ...doubt, asked: { at: now, drawnMs } })
  await parts.terminal.redraw(pane, signal)
  return true
}

/** The terminal of a session by its exact ids. */
export const paneOf = ({ serverId, terminalId, paneId }: TerminalPlace): PaneRef => ({
  server: serverId,
  session: terminalId,
  pane: paneId,
})

/** Whether a listed terminal is the one that a session was started in. */
export const isAt = (pane: Pick<PaneInfo, 'server' | 'pane'>, place: TerminalPlace | undefined): boolean =>
  pane.server === place?.serverId && pane.pane === place.paneId
