import type { AgentCliName } from '../../contract/config/names.ts'
import { isShown } from '../../core/messages/message-text.ts'
import type { Typing } from '../../ports/agent-cli.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import { paneOfWatch, readScreen, type Seen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

/** Nobody types over a person: so long after their last key, and only into an empty box. */
const humanQuietMs = 5000
/** A second press of what empties the box may end the program. */
const clearAgainMs = 5000
const lookMs = 125
/** So long a screen may be unreadable before it is done without; by then it was drawn anew. */
const unreadableMs = 10_000
const interruptMs = 10_000

/** The box of one session where prompts are typed: what it shows, and what may be done with it. */
export class TypingBox {
  readonly #parts: Parts
  readonly #watch: SessionWatch
  readonly #signal: AbortSignal
  /** A text of ours that may still turn up in the box, though its message has failed. */
  #leftover: string | undefined
  #clearedAt = Number.NEGATIVE_INFINITY
  #interruptedAt = Number.NEGATIVE_INFINITY
  #unreadableSince: number | undefined

  constructor(parts: Parts, watch: SessionWatch, signal: AbortSignal) {
    this.#parts = parts
    this.#watch = watch
    this.#signal = signal
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
    const isReadable = !seen || seen.reading.composer.state !== 'none' || seen.reading.dialog
    this.#unreadableSince = isReadable ? undefined : (this.#unreadableSince ?? this.#parts.clock.now())
    return seen
  }

  /** Whether the box holds this text and no other. */
  shows({ reading: { composer } }: Seen, text: string): boolean {
    return composer.state === 'text' && isShown(composer.text, text, this.typing().marker)
  }

  /** Where to type, when the box is ours: nothing is in it, nothing works or asks, and nobody is at the keys. */
  async free(pane: PaneRef): Promise<Seen | undefined> {
    const seen = await this.look()
    if (!seen || seen.reading.dialog || seen.reading.isWorking || this.#isSomebodyAt(seen)) return undefined
    if (seen.reading.composer.state === 'text') await this.#clearOurs(seen, pane)
    return seen.reading.composer.state === 'empty' || this.#isEmptyUnseen(seen) ? seen : undefined
  }

  /** The box cannot be read, but nobody was at the keys since; what is in it is what was put there then. */
  isUntouched(seen: Seen, sinceMs: number): boolean {
    const { lastKeyMs = Number.NEGATIVE_INFINITY } = seen.screen
    const { lifecycle } = this.#watch.verdict
    const isUnreadable =
      this.#unreadableSince !== undefined &&
      this.#parts.clock.now() - this.#unreadableSince > unreadableMs &&
      !seen.reading.isWorking
    return isUnreadable && lifecycle === 'idle' && lastKeyMs < sinceMs - 1000
  }

  /** Presses keys on what was seen; false when somebody typed since, or just before. */
  async press(pane: PaneRef, keys: readonly string[], seen: Seen): Promise<boolean> {
    if (this.#isSomebodyAt(seen)) return false
    return this.#parts.terminal.keys(pane, { keys, stamp: seen.screen.stamp }, this.#signal)
  }

  /** What was ours and was not taken must not stand in the way of what follows. */
  async giveUp(pane: PaneRef, text: string): Promise<void> {
    this.#leftover = text
    const seen = await this.look()
    if (seen) await this.#clearOurs(seen, pane)
  }

  /** Presses what interrupts, where something is to be interrupted: at rest the same key may open a menu. */
  async interrupt(): Promise<void> {
    const pane = paneOfWatch(this.#watch)
    const seen = await this.look()
    if (!pane || !seen || (isResting(seen) && !this.isOwnProgram)) return
    await this.#parts.terminal.keys(pane, { keys: this.typing().interrupt }, this.#signal)
    await this.#interrupted()
  }

  /**
   * Interrupts what was seen to work, for a message that wants it. Not while somebody types: their next letter would
   * make another key of an Escape before it. False when nothing was pressed.
   */
  async interruptFor(seen: Seen, pane: PaneRef): Promise<boolean> {
    if (!seen.reading.isWorking || seen.reading.dialog) return false
    if (!(await this.press(pane, this.typing().interrupt, seen))) return false
    await this.#interrupted()
    return true
  }

  async #interrupted(): Promise<void> {
    const { clock } = this.#parts
    this.#interruptedAt = clock.now()
    const until = clock.monotonic() + interruptMs
    while (clock.monotonic() < until && !this.isOwnProgram) {
      await clock.sleep(lookMs, this.#signal)
      const { reading } = (await this.look()) ?? {}
      if (reading && !reading.isWorking && reading.composer.state !== 'none') return
    }
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

  #isSomebodyAt({ screen: { lastKeyMs = Number.NEGATIVE_INFINITY } }: Seen): boolean {
    return this.#parts.clock.now() - lastKeyMs < humanQuietMs
  }

  /** Empties the box of what nobody but Muster or the CLI itself can have put there. */
  async #clearOurs(seen: Seen, pane: PaneRef): Promise<void> {
    const { prompt } = this.#watch.taken
    const { attached, lastKeyMs = Number.NEGATIVE_INFINITY } = seen.screen
    // Interrupted before it answered, a CLI puts the prompt back into its box. A person who looks may want to change it.
    const isAlone = attached === 0 || lastKeyMs < Math.max(prompt?.at ?? 0, this.#interruptedAt) - 1000
    const isBack = prompt && isAlone && this.shows(seen, prompt.text)
    const isLeft = this.#leftover !== undefined && this.shows(seen, this.#leftover)
    const now = this.#parts.clock.now()
    if ((!isBack && !isLeft) || now - this.#clearedAt < clearAgainMs) return
    if (await this.press(pane, this.typing().clear, seen)) this.#clearedAt = now
  }
}

const isResting = ({ reading }: Seen): boolean =>
  !reading.isWorking && !reading.dialog && reading.composer.state !== 'none'
