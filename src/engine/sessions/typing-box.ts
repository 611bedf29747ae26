import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import { shortId } from '../../contract/ids.ts'
import { isShown } from '../../core/messages/message-text.ts'
import { isTurnToldOpen } from '../../core/session/evidence/turn.ts'
import type { Typing } from '../../ports/agent-cli.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import { paneOfWatch, readScreen, type Seen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { TranscriptFollower } from './transcript.ts'

/** Nobody types over a person: so long after their last key, and only into an empty box. */
const humanQuietMs = 5000
/** A second press of what empties the box may end the program. */
const clearAgainMs = 5000
const lookMs = 125
/** So long a box may show nothing that can be told before it is done without; by then it was drawn anew. */
const unreadableMs = 10_000
/** A program that has drawn nothing for so long is made to draw. */
const drawAgainMs = 5000
/** That a turn ended on an interrupt shows so long after the last key. */
const proofMs = 10_000
/** A busy program may miss a key, or read two as another one: what still shows its work so long after is interrupted again. */
const pressAgainMs = 2500
/** So often at most: with the time for its proof, an answer comes before whoever asked gives up (30 s). */
const mostAgain = 2

/** What came of an interrupt: what proves that the turn ended, nothing was at work, or nothing proves it. */
export type Interrupt = 'hook' | 'transcript' | 'screen' | 'nothing' | 'unproved'

/** The box of one session where prompts are typed: what it shows, and what may be done with it. */
export class TypingBox {
  readonly #parts: Parts
  readonly #watch: SessionWatch
  readonly #signal: AbortSignal
  readonly #transcript: BoxOptions['transcript']
  readonly #lastTyped: () => Promise<string | undefined>
  /** A text of ours that may still turn up in the box, though its message has failed, and when it was typed. */
  #leftover: Typed | undefined
  #clearedAt = Number.NEGATIVE_INFINITY
  #interruptedAt = Number.NEGATIVE_INFINITY
  #redrawnAt = Number.NEGATIVE_INFINITY
  /** Since when the box is not empty, or not to be seen. */
  #oddSince: number | undefined
  /** Since when the box cannot be read while nothing asks or works. */
  #unreadSince: number | undefined

  constructor(parts: Parts, { watch, signal, transcript, lastTyped }: BoxOptions) {
    this.#parts = parts
    this.#watch = watch
    this.#signal = signal
    this.#transcript = transcript
    this.#lastTyped = lastTyped
  }

  get isOwnProgram(): boolean {
    return this.#watch.state()?.managed?.cli === 'custom'
  }

  typing(): Typing {
    const managed = this.#watch.state()?.managed
    return this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName].dialect.typing(
      managed?.cliVersion ?? '',
    )
  }

  async look(): Promise<Seen | undefined> {
    const seen = await readScreen(this.#parts, this.#watch, this.#signal)
    const isOdd = seen && seen.reading.composer.state !== 'empty' && !seen.reading.dialog
    const now = this.#parts.clock.now()
    this.#oddSince = isOdd ? (this.#oddSince ?? now) : undefined
    const isUnread = isOdd && seen.reading.composer.state === 'none' && !seen.reading.isWorking
    this.#unreadSince = isUnread ? (this.#unreadSince ?? now) : undefined
    return seen
  }

  /** How long nobody could tell what is in the box. */
  unreadMs(): number {
    return this.#unreadSince === undefined ? 0 : this.#parts.clock.now() - this.#unreadSince
  }

  /** Whether the box holds this text and no other. */
  shows({ reading: { composer } }: Seen, text: string): boolean {
    return composer.state === 'text' && isShown(composer.text, text, this.typing().marker)
  }

  /** Where to type, when the box is empty, nothing works or asks, and nobody is at the keys; else why not. */
  async free(pane: PaneRef): Promise<{ readonly seen: Seen } | { readonly why: string }> {
    const seen = await this.look()
    if (!seen) return { why: 'its terminal cannot be seen' }
    if (seen.reading.dialog) return { why: 'a dialog is open in its terminal' }
    if (seen.reading.isWorking) return { why: 'the agent is working' }
    if (this.isSomebodyAt(seen)) return { why: 'somebody is typing in its terminal' }
    if (seen.reading.composer.state === 'text') {
      await this.#clearOurs(seen, pane)
      return { why: 'its input box holds a text that was not sent; it goes when the box is empty' }
    }
    if (seen.reading.composer.state === 'none' && !this.#isEmptyUnseen(seen))
      return { why: 'its screen cannot be read' }
    this.#leftover = undefined
    return { seen }
  }

  /** Nobody was at the keys since, and the box shows nothing else that can be told: in it is what was put there then. */
  isUntouched(seen: Seen, sinceMs: number): boolean {
    const isOdd =
      this.#oddSince !== undefined &&
      this.#parts.clock.now() - this.#oddSince > unreadableMs &&
      !seen.reading.isWorking
    return isOdd && this.#watch.verdict.lifecycle === 'idle' && isLeftAlone(seen, sinceMs)
  }

  /**
   * Whether the program has drawn nothing since: what it was given then is still before it, whatever its screen shows.
   * Some stand still for a minute over a long text. One that can draws when it is told to.
   */
  async isStill({ screen: { drawnMs } }: Seen, pane: PaneRef, sinceMs: number): Promise<boolean> {
    if (drawnMs === undefined || drawnMs > sinceMs) return false
    const now = this.#parts.clock.now()
    if (now - Math.max(sinceMs, this.#redrawnAt) >= drawAgainMs) {
      this.#redrawnAt = now
      await this.#parts.terminal.redraw(pane, this.#signal)
    }
    return true
  }

  /** Presses keys on what was seen; false when somebody typed since, or just before. */
  async press(pane: PaneRef, keys: readonly string[], seen: Seen): Promise<boolean> {
    if (this.isSomebodyAt(seen)) return false
    return this.#parts.terminal.keys(pane, { keys, stamp: seen.screen.stamp }, this.#signal)
  }

  /** What was ours and was not taken must not stand in the way of what follows. */
  async giveUp(pane: PaneRef, typed: Typed): Promise<void> {
    this.#leftover = typed
    const seen = await this.look()
    if (seen) await this.#clearOurs(seen, pane)
  }

  /** Presses what interrupts, where something is to be interrupted: at rest the same key may open a menu. */
  async interrupt(): Promise<Interrupt> {
    const pane = paneOfWatch(this.#watch)
    const seen = await this.look()
    if (!pane || !seen) return 'unproved'
    const wasShown = !isResting(seen)
    if (!wasShown && !this.isOwnProgram && !isTurnToldOpen(this.#watch.evidence)) return 'nothing'
    const broken = this.#begun()
    const { interrupt: keys } = this.typing()
    const isPressed = await this.#parts.terminal.keys(pane, { keys }, this.#signal)
    return isPressed ? this.#proof(pane, broken, wasShown) : 'unproved'
  }

  /**
   * Interrupts what was seen to work, for a message that wants it. Not while somebody types: their next letter would
   * make another key of an Escape before it. False when nothing was pressed.
   */
  async interruptFor(seen: Seen, pane: PaneRef): Promise<boolean> {
    if (!goesOn(seen)) return false
    const broken = this.#begun()
    if (!(await this.press(pane, this.typing().interrupt, seen))) return false
    await this.#proof(pane, broken, true)
    return true
  }

  #begun(): Broken {
    return { atMs: this.#parts.clock.now(), runId: this.#watch.turns.open }
  }

  /**
   * Waits for what proves that the turn ended: the word of the CLI, or its screen at rest in two looks. A screen that
   * did not show the work does not show its end. One that asks whether it is meant gets the key again at once, one that
   * goes on showing the work a little later.
   */
  async #proof(pane: PaneRef, broken: Broken, wasShown: boolean): Promise<Interrupt> {
    const { clock } = this.#parts
    this.#interruptedAt = broken.atMs
    let pressedAt = clock.monotonic()
    let again = 0
    let isAnswered = false
    let restful = 0
    while (clock.monotonic() - pressedAt < proofMs && !this.isOwnProgram) {
      await clock.sleep(lookMs, this.#signal)
      const told = this.#toldEnd(broken)
      if (told) return told
      const seen = await this.look()
      restful = wasShown && seen && isResting(seen) ? restful + 1 : 0
      if (restful > 1) return 'screen'
      const isDue = again < mostAgain && clock.monotonic() - pressedAt >= pressAgainMs
      const isWanted = (one: Seen) => goesOn(one) && (isDue || (isArmed(one) && !isAnswered))
      if (!seen || !isWanted(seen)) continue
      // What works now may be the next turn, which nobody wants to interrupt: the record knows.
      await this.#transcript.settled()
      const ended = this.#toldEnd(broken)
      if (ended) return ended
      const now = await this.look()
      if (!now || !isWanted(now) || !(await this.press(pane, this.typing().interrupt, now))) continue
      pressedAt = clock.monotonic()
      isAnswered = isArmed(now)
      if (isDue) again += 1
    }
    return 'unproved'
  }

  #toldEnd({ atMs, runId }: Broken): 'hook' | 'transcript' | undefined {
    const { interrupted, 'turn-end': ended, 'turn-failed': failed, prompt } = this.#watch.evidence.last
    const end = [interrupted, ended, failed].find((sighting) => (sighting?.at ?? 0) >= atMs)
    // Another run can be open only when the one before it is over.
    const { open } = this.#watch.turns
    const proof = end ?? (runId !== undefined && open !== undefined && open !== runId ? prompt : undefined)
    return proof && (proof.source === 'hook' ? 'hook' : 'transcript')
  }

  /** A box is empty once the CLI has taken a prompt and answered it, as long as nobody types. */
  #isEmptyUnseen(seen: Seen): boolean {
    const { taken, evidence } = this.#watch
    const { prompt } = taken
    const ended = evidence.last['turn-end']
    return prompt !== undefined && ended !== undefined && ended.at > prompt.at
      ? this.isUntouched(seen, prompt.at)
      : false
  }

  isSomebodyAt({ screen: { lastKeyMs = Number.NEGATIVE_INFINITY } }: Seen): boolean {
    return this.#parts.clock.now() - lastKeyMs < humanQuietMs
  }

  /** Empties the box of what Muster typed, and of nothing else: a prompt that a person typed is theirs, also when it comes back. */
  async #clearOurs(seen: Seen, pane: PaneRef): Promise<void> {
    const now = this.#parts.clock.now()
    const { composer, dialog, isWorking } = seen.reading
    // The same key ends some programs when the box is empty, and interrupts what works.
    if (composer.state !== 'text' || dialog || isWorking || now - this.#clearedAt < clearAgainMs) return
    if (!this.#isLeftover(seen) && !(await this.#isBack(seen))) return
    if (await this.press(pane, this.typing().clear, seen)) this.#clearedAt = now
  }

  #isLeftover(seen: Seen): boolean {
    if (!this.#leftover) return false
    const { text, atMs } = this.#leftover
    return isLeftAlone(seen, atMs) || (this.shows(seen, text) && !this.#isFolded(seen))
  }

  /** Interrupted before it answered, a CLI puts the prompt back into its box. A person who looks may want to change it. */
  async #isBack(seen: Seen): Promise<boolean> {
    const accepted = this.#watch.state()?.messageEnds?.accepted
    if (!accepted) return false
    const isAlone = isLeftAlone(seen, Math.max(accepted.atMs, this.#interruptedAt))
    if (!isAlone && (seen.screen.attached !== 0 || this.#isFolded(seen))) return false
    const text = await this.#lastTyped()
    return text !== undefined && this.shows(seen, text)
  }

  /** Of a paste that is shown as a marker only its length is known: somebody's own may have the same. */
  #isFolded({ reading: { composer } }: Seen): boolean {
    return composer.state === 'text' && this.typing().marker?.test(composer.text) === true
  }
}

/** A turn that is being interrupted: since when, and its run, if one was told. */
type Broken = { readonly atMs: number; readonly runId: string | undefined }

/** A text that Muster typed, and when. */
type Typed = { readonly text: string; readonly atMs: number }

type BoxOptions = {
  readonly watch: SessionWatch
  readonly signal: AbortSignal
  readonly transcript: Pick<TranscriptFollower, 'settled'>
  /** The text of the message that the program took last, as it was typed. */
  readonly lastTyped: () => Promise<string | undefined>
}

/** The time of a key is known to the second. */
const isLeftAlone = ({ screen: { lastKeyMs = Number.NEGATIVE_INFINITY } }: Seen, sinceMs: number): boolean =>
  lastKeyMs < sinceMs - 1000

/** Something works, and no dialog is open that a key would answer. */
const goesOn = ({ reading }: Seen): boolean => reading.isWorking && !reading.dialog

const isArmed = ({ reading }: Seen): boolean => reading.isArmed === true

const isResting = ({ reading }: Seen): boolean =>
  !reading.isWorking && !reading.dialog && reading.composer.state !== 'none'

/** Why a session that somebody wanted to interrupt cannot be called interrupted. */
export function notInterrupted(how: 'nothing' | 'unproved', watch: SessionWatch): AppError {
  const { name, cli } = watch.state()?.managed ?? {}
  const short = shortId(watch.id)
  const called = name ?? short
  if (how === 'nothing')
    return new AppError('conflict', `${called} is not working on anything, so there is nothing to interrupt`)
  return cli === 'custom'
    ? new AppError(
        'failed',
        `Ctrl-C was pressed, but ${called} does not tell Muster whether it stopped; see: sm output ${short}`,
      )
    : new AppError(
        'failed',
        `the keys that interrupt ${called} were pressed, but nothing shows that it stopped; see: sm attach ${short}, or end it with: sm kill ${short}`,
      )
}
