import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { By, PayloadOf } from '../../contract/event.ts'
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
import { type Interrupt, TypingBox } from './typing-box.ts'

const lookMs = 125
/** A paste that is in the terminal for certain shows by then, or somebody has taken it out. */
const shownMs = 30_000
/** Enter is pressed again after these, while the box shows our own text and no other. */
const againMs = [1000, 2000, 4000, 8000, 15_000]
/** On a screen that cannot be read, Enter is pressed so often and no more. */
const mostUnseen = 2
/** What was sent has its proof by then. */
const receiptMs = 45_000
/** A text of ours beside others in the box is a dead letter after so long without a key; behind a dialog, and in any case, after the second. */
const mixedMs = 120_000
const hiddenMs = 600_000
/** What a hook was given stands in the record by then, once the turn is over. */
const injectedMs = 5000

/** A prompt is with the model by then, as far as anyone can tell. */
const heardMs = 10_000

/** A message as it is sent. */
export type Sent = {
  readonly text: string
  readonly mode: Queued['mode']
  readonly from: string
  /** Who asked for it; the daemon itself when left out. */
  readonly by?: By
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
  /** Why the next message does not go. */
  #why: string | undefined

  constructor(parts: Parts, watch: SessionWatch, transcript: Pick<TranscriptFollower, 'settled'>) {
    this.#parts = parts
    this.#watch = watch
    this.#transcript = transcript
    const lastTyped = () => this.#lastTyped()
    this.#box = new TypingBox(parts, { watch, signal: this.#stopped.signal, transcript, lastTyped })
  }

  /** Why a message of this session has not arrived yet. */
  waiting(messageId: string): string | undefined {
    const { queue = [], managed } = this.#watch.state() ?? {}
    if (!queue.some((one) => one.messageId === messageId)) return undefined
    const next = nextMessage(queue, managed?.isPromptTyped ?? false)
    if (!next) return 'its first prompt has not been accepted yet'
    if (next.messageId === messageId) return this.#why
    const why = this.#why === undefined ? '' : `, because ${this.#why}`
    return `it waits behind another message${why}`
  }

  /** Something changed: look whether a message can go. */
  poke(): void {
    this.#again = true
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined
    })
  }

  interrupt(): Promise<Interrupt> {
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
        if (error instanceof AppError) this.#later('its terminal does not answer')
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
    if (!message || !pane) return this.#hold(pane ? undefined : 'it has no terminal yet')
    const holder = firstOverBudget(state as SessionState, (id) => this.#parts.engine.session(id))
    if (holder) return this.#hold(`the budget of ${holder.managed?.name ?? 'a session above it'} is used up`)
    const text = await this.#textAt(message.vault)
    if (text === undefined)
      return this.#fail(message, 'gone', 'its text is no longer in the vault; send it again')
    if (text === '') return this.#fail(message, 'malformed', 'none of its text can be typed')
    const delivering = { message, text, pane }
    // What was begun may have been taken while nobody watched: the record tells, and it is read first.
    if (message.stage !== 'queued') await this.#transcript.settled()
    if (await this.#isAccepted(delivering)) return true
    if (message.stage === 'injected' && !this.#isInjectionLost(message))
      return this.#later('a hook brought it along, and the record of the agent does not show it yet')
    const seen = await this.#box.look()
    const isPasted = message.stage !== 'queued' && seen?.screen.pastedId === message.messageId
    if (!isPasted) {
      const why = await this.#paste(delivering)
      if (why !== undefined && this.#box.unreadMs() > hiddenMs)
        return this.#fail(message, 'timeout', lost.unread)
      if (why !== undefined) return this.#later(why)
    }
    this.#why = 'it was typed, and nothing shows yet that the agent took it'
    return this.#box.isOwnProgram ? this.#submitUnseen(delivering) : this.#settle(delivering)
  }

  /** Pastes what was never pasted into this terminal, when the box is empty; answers why not. */
  async #paste({ message, text, pane }: Delivering): Promise<string | undefined> {
    const { lifecycle, waitingFor } = this.#watch.verdict
    if (lifecycle === 'starting') return 'the agent is starting'
    if (lifecycle === 'waiting_input') return `the agent waits for ${waitingFor ?? 'an answer'}`
    if (lifecycle === 'running' && !(await this.#mayInterrupt(message, pane))) return 'the agent is working'
    const room = await this.#box.free(pane)
    if ('why' in room) return room.why
    // Written first: a receipt is never older than this, and the terminal itself tells whether the paste was made.
    if (message.stage !== 'pasted' && message.stage !== 'submitted') await this.#stage(message, 'pasted')
    const stamp = this.#box.isOwnProgram ? undefined : room.seen.screen.stamp
    const paste = { text, id: message.messageId, stamp }
    const isDone = await this.#parts.terminal.paste(pane, paste, this.#stopped.signal)
    return isDone ? undefined : 'somebody is typing in its terminal'
  }

  /** Interrupts what runs for a message that wants it. A dialog that came up just now is not ours to refuse. */
  async #mayInterrupt({ mode }: Queued, pane: PaneRef): Promise<boolean> {
    if (mode !== 'urgent' || !(await this.#hasReachedModel())) return false
    // Typed before its work shows, it would only wait in the CLI's own queue.
    const seen = await this.#box.look()
    return seen !== undefined && this.#box.interruptFor(seen, pane)
  }

  /**
   * Interrupted before any answer, a prompt leaves the conversation: what was just sent gets the time to be heard. That
   * of a person would come back into the box and be in the way of the message, so it is not interrupted before.
   */
  async #hasReachedModel(): Promise<boolean> {
    const { taken, evidence } = this.#watch
    const { prompt } = taken
    if (!prompt) return true
    const { text, response, 'tool-start': call } = evidence.last
    if ([text, response, call].some((mark) => mark !== undefined && mark.at > prompt.at)) return true
    if (this.#parts.clock.now() - prompt.at <= heardMs) return false
    const own = await this.#lastTyped()
    return own !== undefined && holdsText(prompt.text, own)
  }

  /** From the paste to the receipt: Enter is pressed on our own text alone, and nothing is pasted twice. */
  async #settle(delivering: Delivering): Promise<boolean> {
    const { message, text, pane } = delivering
    const { clock } = this.#parts
    const typing = this.#box.typing()
    const { givenAtMs = clock.now() } = this.#queued(message) ?? message
    let presses = 0
    let isSubmitted = message.stage === 'submitted'
    let due: number | undefined
    let waitedMs = 0
    let heldMs = 0
    let touchedAt = givenAtMs
    const began = clock.monotonic()
    let before = began
    for (;;) {
      if (await this.#isAccepted(delivering)) return true
      if (!this.#queued(message)) return true
      const seen = await this.#box.look()
      if (!seen) return false
      const now = clock.monotonic()
      const { state } = seen.reading.composer
      // Once Enter was pressed, what cannot be told may be the CLI's own: a suggestion, say.
      const isUnseen = presses < mostUnseen && (state === 'none' || !isSubmitted)
      const isOurs = this.#box.shows(seen, text) || (isUnseen && this.#box.isUntouched(seen, givenAtMs))
      const isSeenGone = state === 'empty' || (isSubmitted && state === 'none' && !seen.reading.dialog)
      const isStill = isSeenGone && (await this.#box.isStill(seen, pane, touchedAt))
      if (isOurs || (isSeenGone && !isStill)) waitedMs += now - before
      // Behind a dialog, or mixed with what a person types, it waits for them, but not for ever.
      else if (!isSeenGone && !this.#box.isSomebodyAt(seen)) heldMs += now - before
      before = now
      if (isOurs) {
        due ??= now + typing.settleMs
        if (now >= due) {
          if (presses > againMs.length) return this.#giveUp(delivering, givenAtMs, 'ignored')
          // Somebody at the keys may hold Enter up for long: what is written already is not written again.
          if (this.#queued(message)?.stage !== 'submitted') await this.#stage(message, 'submitted')
          if (await this.#box.press(pane, typing.submit, seen)) {
            due = clock.monotonic() + (againMs[presses] ?? receiptMs)
            presses += 1
            touchedAt = clock.now()
            isSubmitted = true
            waitedMs = 0
          }
        }
      } else if (waitedMs > (isSubmitted ? receiptMs : shownMs))
        return this.#giveUp(delivering, givenAtMs, isSubmitted ? 'unproved' : 'deleted')
      else if (heldMs > (state === 'text' ? mixedMs : hiddenMs) || now - began > hiddenMs)
        return this.#giveUp(delivering, givenAtMs, isSubmitted ? 'unproved' : isStill ? 'still' : 'mixed')
      await clock.sleep(lookMs, this.#stopped.signal)
    }
  }

  /** A dead letter: what is ours leaves the box, whoever sent it is told, and the next message has its turn. */
  async #giveUp({ message, text, pane }: Delivering, atMs: number, how: keyof typeof lost): Promise<true> {
    await this.#box.giveUp(pane, { text, atMs })
    return this.#fail(message, how === 'ignored' ? 'rejected' : 'timeout', lost[how])
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
  async #isAccepted({ message: begun, text }: Delivering): Promise<boolean> {
    const message = this.#queued(begun)
    if (!message) return true
    const { givenAtMs } = message
    if (givenAtMs === undefined) return false
    const raw = message.stage === 'injected' ? await this.#rawAt(message.vault) : text
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
    const isOver = verdict.lifecycle === 'idle' || verdict.lifecycle === 'failed'
    return taken.hasRecord && isOver && now - since > injectedMs
  }

  /** A message as it stands now; nothing when it has its end. */
  #queued({ messageId }: Queued): Queued | undefined {
    return this.#watch.state()?.queue?.find((one) => one.messageId === messageId)
  }

  async #rawAt(vault: string | undefined): Promise<string | undefined> {
    const bytes = vault === undefined ? undefined : await this.#parts.vault.get(vault)
    return bytes && new TextDecoder().decode(bytes)
  }

  /** The message that the program took last. */
  #lastTyped(): Promise<string | undefined> {
    return this.#textAt(this.#watch.state()?.messageEnds?.accepted?.vault)
  }

  /** A text as it is typed into this CLI. */
  async #textAt(vault: string | undefined): Promise<string | undefined> {
    const raw = await this.#rawAt(vault)
    const managed = this.#watch.state()?.managed
    const { dialect } = this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName]
    return raw === undefined ? undefined : dialect.harmless(raw)
  }

  #hold(why: string | undefined): false {
    this.#why = why
    return false
  }

  /** Looks again by itself: nothing tells when a person has emptied the box. */
  #later(why: string): false {
    this.#why = why
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
      const now = this.#queued(message)
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

/** What is told of a dead letter. */
const lost = {
  ignored: 'the program ignored Enter, so the text was removed from its input box',
  unproved: 'it was typed and sent, but nothing shows that the agent received it',
  deleted: 'its text was deleted from the input box before it was sent; send it again',
  unread:
    'its input box could not be read for ten minutes, so it was not typed; look with: sm attach, then send it again',
  still:
    'its program stood still for ten minutes, so nothing shows whether it was typed; look with: sm attach',
  mixed:
    'it could not be told apart from other text in the input box, so it was not sent; look with: sm attach',
} as const
