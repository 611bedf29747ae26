import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import { nextMessage, type Queued, type Stage } from '../../core/messages/message-queue.ts'
import { holdsText } from '../../core/messages/message-text.ts'
import { firstOverBudget } from '../../core/session/session-tree.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import { draftOf } from './drafts.ts'
import { paneOfWatch } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import type { TranscriptFollower } from './transcript.ts'
import { TypingBox } from './typing-box.ts'

const lookMs = 125
/** A paste that is in the terminal for certain shows by then, or somebody has taken it out. */
const shownMs = 30_000
/** Enter is pressed again after these, while the box shows our own text and no other. */
const againMs = [1000, 2000, 4000, 8000, 15_000]
/** On a screen that cannot be read, Enter is pressed so often and no more. */
const mostUnseen = 2
/** What was sent has its proof by then. */
const receiptMs = 45_000
/** What a hook was given stands in the record by then, once the turn is over. */
const injectedMs = 5000

/** A prompt is with the model by then, as far as anyone can tell. */
const heardMs = 10_000

/** A message as it is sent. */
export type Sent = {
  readonly text: string
  readonly mode: Queued['mode']
  readonly from: string
  /** The id that it gets, so that whoever sent it finds it again; a new one when left out. */
  readonly messageId?: string
}

type Delivering = { readonly message: Queued; readonly text: string; readonly pane: PaneRef }

/** Brings the queued messages of one session into its terminal, one at a time, each with its receipts. */
export class Delivery {
  readonly #parts: Parts
  readonly #watch: SessionWatch
  readonly #transcript: Pick<TranscriptFollower, 'settled'>
  readonly #box: TypingBox
  readonly #stopped = new AbortController()
  #running: Promise<void> | undefined
  #again = false
  #isDue = false

  constructor(parts: Parts, watch: SessionWatch, transcript: Pick<TranscriptFollower, 'settled'>) {
    this.#parts = parts
    this.#watch = watch
    this.#transcript = transcript
    this.#box = new TypingBox(parts, watch, this.#stopped.signal)
  }

  /** Something changed: look whether a message can go. */
  poke(): void {
    this.#again = true
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined
    })
  }

  interrupt(): Promise<void> {
    return this.#box.interrupt()
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
  }

  async #loop(): Promise<void> {
    while (this.#again && !this.#stopped.signal.aborted) {
      this.#again = false
      try {
        while (await this.#one()) this.#again = false
      } catch (error) {
        if (this.#stopped.signal.aborted) return
        // A terminal that is gone or does not answer is told of elsewhere, and may come back.
        if (error instanceof AppError) this.#later()
        else this.#parts.onBug(error, `delivery to ${this.#watch.id}`)
      }
    }
  }

  /** Delivers one message; false when there is none or none may go now. */
  async #one(): Promise<boolean> {
    const state = this.#watch.state()
    const pane = paneOfWatch(this.#watch)
    const message =
      state && !hasEnded(state)
        ? nextMessage(state.queue ?? [], state.managed?.isPromptTyped ?? false)
        : undefined
    if (!message || !pane) return false
    if (firstOverBudget(state as SessionState, (id) => this.#parts.engine.session(id))) return false
    const text = await this.#textOf(message)
    if (text === undefined)
      return this.#fail(message, 'gone', 'its text is no longer in the vault; send it again')
    if (text === '') return this.#fail(message, 'malformed', 'none of its text can be typed')
    const delivering = { message, text, pane }
    // What was begun may have been taken while nobody watched: the record tells, and it is read first.
    if (message.stage !== 'queued') await this.#transcript.settled()
    if (await this.#isAccepted(delivering)) return true
    if (message.stage === 'injected' && !this.#isInjectionLost(message)) return this.#later()
    const seen = await this.#box.look()
    const isPasted = message.stage !== 'queued' && seen?.screen.pastedId === message.messageId
    if (!isPasted && !(await this.#paste(delivering))) return this.#later()
    return this.#box.isOwnProgram ? this.#submitUnseen(delivering) : this.#settle(delivering)
  }

  /** Pastes what was never pasted into this terminal, when the box is ours to type into. */
  async #paste({ message, text, pane }: Delivering): Promise<boolean> {
    const { lifecycle } = this.#watch.verdict
    if (lifecycle === 'starting' || lifecycle === 'waiting_input') return false
    if (lifecycle === 'running' && !(await this.#mayInterrupt(message, pane))) return false
    const seen = await this.#box.free(pane)
    if (!seen) return false
    // Written first: a receipt is never older than this, and the terminal itself tells whether the paste was made.
    if (message.stage !== 'pasted' && message.stage !== 'submitted') await this.#stage(message, 'pasted')
    const stamp = this.#box.isOwnProgram ? undefined : seen.screen.stamp
    const paste = { text, id: message.messageId, stamp }
    return this.#parts.terminal.paste(pane, paste, this.#stopped.signal)
  }

  /** Interrupts what runs for a message that wants it. A dialog that came up just now is not ours to refuse. */
  async #mayInterrupt({ mode }: Queued, pane: PaneRef): Promise<boolean> {
    if (mode !== 'urgent' || !this.#hasReachedModel()) return false
    // Typed before its work shows, it would only wait in the CLI's own queue.
    const seen = await this.#box.look()
    return seen !== undefined && this.#box.interruptFor(seen, pane)
  }

  /** Interrupted before any answer, a prompt leaves the conversation: what was just sent gets the time to be heard. */
  #hasReachedModel(): boolean {
    const { taken, evidence } = this.#watch
    const { prompt } = taken
    if (!prompt) return true
    const { text, response, 'tool-start': call } = evidence.last
    const isAnswered = [text, response, call].some((mark) => mark !== undefined && mark.at > prompt.at)
    return isAnswered || this.#parts.clock.now() - prompt.at > heardMs
  }

  /** From the paste to the receipt: Enter is pressed on our own text alone, and nothing is pasted twice. */
  async #settle(delivering: Delivering): Promise<boolean> {
    const { message, text, pane } = delivering
    const { clock } = this.#parts
    const typing = this.#box.typing()
    const { givenAtMs = clock.now() } = message
    let presses = 0
    let isSubmitted = message.stage === 'submitted'
    let due: number | undefined
    let waitedMs = 0
    let before = clock.monotonic()
    for (;;) {
      if (await this.#isAccepted(delivering)) return true
      if (!this.#isOpen(message)) return true
      const seen = await this.#box.look()
      if (!seen) return false
      const now = clock.monotonic()
      const isOurs =
        this.#box.shows(seen, text) || (presses < mostUnseen && this.#box.isUntouched(seen, givenAtMs))
      // Behind a dialog, or mixed with what a person types, it may wait for as long as they need.
      if (isOurs || seen.reading.composer.state === 'empty') waitedMs += now - before
      before = now
      if (isOurs) {
        due ??= now + typing.settleMs
        if (now >= due) {
          if (presses > againMs.length) {
            await this.#box.giveUp(pane, text)
            return this.#fail(
              message,
              'rejected',
              'the program ignored Enter, so the text was removed from its input box',
            )
          }
          if (message.stage !== 'submitted' && presses === 0) await this.#stage(message, 'submitted')
          if (await this.#box.press(pane, typing.submit, seen)) {
            due = clock.monotonic() + (againMs[presses] ?? receiptMs)
            presses += 1
            isSubmitted = true
            waitedMs = 0
          }
        }
      } else if (waitedMs > (isSubmitted ? receiptMs : shownMs)) {
        await this.#box.giveUp(pane, text)
        return isSubmitted
          ? this.#fail(
              message,
              'timeout',
              'it was typed and sent, but nothing shows that the agent received it',
            )
          : this.#fail(
              message,
              'timeout',
              'its text was deleted from the input box before it was sent; send it again',
            )
      }
      await clock.sleep(lookMs, this.#stopped.signal)
    }
  }

  /** A program that tells nothing of itself has no better receipt than its terminal. */
  async #submitUnseen({ message, pane }: Delivering): Promise<true> {
    const typing = this.#box.typing()
    if (message.stage !== 'submitted') {
      await this.#parts.clock.sleep(typing.settleMs, this.#stopped.signal)
      await this.#stage(message, 'submitted')
      await this.#parts.terminal.keys(pane, { keys: typing.submit }, this.#stopped.signal)
    }
    await this.#accept(message, 'screen')
    return true
  }

  /** Writes the receipt when the program has taken the message; true when it has one. */
  async #isAccepted({ message: { messageId }, text }: Delivering): Promise<boolean> {
    const message = this.#watch.state()?.queue?.find((one) => one.messageId === messageId)
    if (!message) return true
    const { givenAtMs } = message
    if (givenAtMs === undefined) return false
    const raw = message.stage === 'injected' ? await this.#rawOf(message) : text
    const found = this.#watch.taken.list.find(
      (one) =>
        one.at >= givenAtMs && (holdsText(one.text, text) || (raw !== undefined && holdsText(one.text, raw))),
    )
    if (!found) return false
    await this.#accept(message, found.source === 'hook' ? 'hook' : 'transcript')
    return true
  }

  /** The daemon may have died between the receipt of the hook and its answer: then the record goes on without it. */
  #isInjectionLost({ givenAtMs = 0 }: Queued): boolean {
    const { verdict, taken } = this.#watch
    const now = this.#parts.clock.now()
    const since = Math.max(givenAtMs, verdict.since ?? now)
    return taken.hasRecord && verdict.lifecycle === 'idle' && now - since > injectedMs
  }

  #isOpen({ messageId }: Queued): boolean {
    return (this.#watch.state()?.queue ?? []).some((one) => one.messageId === messageId)
  }

  async #rawOf({ vault }: Queued): Promise<string | undefined> {
    const bytes = vault === undefined ? undefined : await this.#parts.vault.get(vault)
    return bytes && new TextDecoder().decode(bytes)
  }

  async #textOf(message: Queued): Promise<string | undefined> {
    const raw = await this.#rawOf(message)
    const managed = this.#watch.state()?.managed
    const { dialect } = this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName]
    return raw === undefined ? undefined : dialect.harmless(raw)
  }

  /** Looks again by itself: nothing tells when a person has emptied the box. */
  #later(): false {
    if (this.#isDue) return false
    this.#isDue = true
    this.#parts.clock.sleep(1000, this.#stopped.signal).then(
      () => {
        this.#isDue = false
        this.poke()
      },
      () => {},
    )
    return false
  }

  async #stage(message: Queued, stage: Exclude<Stage, 'queued'>): Promise<void> {
    const { messageId, spanId } = message
    const draft = draftOf({ ...this.#watch.root, spanId }, 'message.delivered', { messageId, stage })
    await this.#parts.engine.perform([draft], () => {
      const now = this.#watch.state()?.queue?.find((one) => one.messageId === messageId)
      // A hook took it along in the meantime; typed as well, it would come twice.
      if (now?.stage === 'injected' && message.stage !== 'injected')
        throw new AppError('conflict', `${messageId} is already being delivered`)
    })
  }

  async #accept({ messageId, spanId }: Queued, proof: PayloadOf<'message.accepted'>['proof']): Promise<void> {
    await this.#parts.engine.perform([
      draftOf({ ...this.#watch.root, spanId }, 'message.accepted', { messageId, proof }),
    ])
  }

  async #fail(
    { messageId, spanId }: Queued,
    errorType: PayloadOf<'message.failed'>['errorType'],
    reason: string,
  ): Promise<true> {
    await this.#parts.engine.perform([
      draftOf({ ...this.#watch.root, spanId }, 'message.failed', { messageId, errorType, reason }),
    ])
    return true
  }
}
