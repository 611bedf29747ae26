import type { AgentCliName } from '../../contract/config/names.ts'
import type { Typing } from '../../contract/dialect.ts'
import { AppError } from '../../contract/errors.ts'
import type { ScreenReading } from '../../contract/signal.ts'
import { isSameText } from '../../core/messages/match.ts'
import { nextMessage, type Queued, type Stage } from '../../core/messages/queue.ts'
import { heldBy } from '../../core/session/held-by.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { PaneRef } from '../../ports/terminal.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import { paneOfWatch, readScreen } from './read-screen.ts'
import type { SessionWatch } from './watch.ts'

/** Nobody types over a person: so long after their last key, and only into an empty box. */
const humanQuietMs = 5000
const lookMs = 250
const pastedMs = 3000
/** Enter is pressed again after these, while the box still shows our own text. */
const againMs = [1000, 3000, 10_000]
const receiptMs = 45_000
const interruptMs = 10_000

/** Brings the queued messages of one session into its terminal, one at a time, each with its receipts. */
export class Delivery {
  readonly #parts: Parts
  readonly #watch: SessionWatch
  #running: Promise<void> | undefined
  #again = false
  readonly #stopped = new AbortController()

  constructor(parts: Parts, watch: SessionWatch) {
    this.#parts = parts
    this.#watch = watch
  }

  /** Something changed: look whether a message can go. */
  poke(): void {
    this.#again = true
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined
    })
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
        if (!this.#stopped.signal.aborted && !isOver(error))
          this.#parts.onBug(error, `delivery to ${this.#watch.id}`)
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
    if (heldBy(state as SessionState, (id) => this.#parts.engine.session(id))) return false
    const text = await this.#textOf(message)
    if (text === undefined)
      return this.#fail(message, 'gone', 'its text is no longer in the vault; send it again')
    if (message.stage === 'injected') return false
    if (message.stage !== 'queued') return this.#settle(message, text, pane)
    if (!(await this.#mayType(message, pane))) return false
    // Written first: after a crash in the middle it is known that this text may be in the box.
    await this.#stage(message, 'pasted')
    await this.#parts.terminal.paste(pane, text, this.#stopped.signal)
    return this.#settle({ ...message, stage: 'pasted' }, text, pane)
  }

  /** Whether the box is ours to type into: the agent rests, nothing is in it, nobody is at the keys. */
  async #mayType(message: Queued, pane: PaneRef): Promise<boolean> {
    const { verdict } = this.#watch
    if (verdict.lifecycle === 'starting') return false
    if (verdict.lifecycle === 'running' && message.mode === 'urgent') await this.#interrupt(pane)
    else if (verdict.lifecycle === 'running' || verdict.lifecycle === 'waiting_input') return false
    const reading = await this.#look(pane)
    if (reading.dialog || reading.isWorking || reading.composer.state !== 'empty') return this.#later()
    const info = (await this.#parts.terminal.panes(this.#stopped.signal)).find(
      (one) => one.pane === pane.pane,
    )
    if (!info || info.isDead) return false
    const quiet = this.#parts.clock.now() - (info.lastKeyMs ?? Number.NEGATIVE_INFINITY)
    return info.attached > 0 && quiet < humanQuietMs ? this.#later() : true
  }

  /** From the paste to the receipt: Enter is pressed on our own text only, and nothing is pasted twice. */
  async #settle(message: Queued, text: string, pane: PaneRef): Promise<boolean> {
    const { clock } = this.#parts
    const typing = this.#typing()
    const started = clock.monotonic()
    if (message.stage === 'pasted') {
      if (!this.#isOwnProgram() && !(await this.#shows(text, pane, pastedMs)))
        return this.#isAccepted(message)
          ? true
          : this.#fail(message, 'timeout', 'the text never showed in the box of the program; it was not sent')
      await this.#sleep(typing.settleMs)
      await this.#stage(message, 'submitted')
      await this.#parts.terminal.keys(pane, typing.submit, this.#stopped.signal)
    }
    if (this.#isOwnProgram()) return this.#taken(message)
    let presses = 0
    while (!this.#isAccepted(message)) {
      const waited = clock.monotonic() - started
      if (waited > receiptMs)
        return this.#fail(
          message,
          'timeout',
          'it was typed and sent, but nothing proves that the agent took it',
        )
      const due = againMs[presses]
      if (due !== undefined && waited > due) {
        presses += 1
        const reading = await this.#look(pane)
        if (this.#isOurs(reading, text))
          await this.#parts.terminal.keys(pane, typing.submit, this.#stopped.signal)
      }
      await this.#sleep(lookMs)
    }
    return true
  }

  /** A program that tells nothing of itself has no better receipt than its terminal. */
  async #taken(message: Queued): Promise<true> {
    await this.#parts.engine.perform([
      draftOf({ ...this.#watch.root, spanId: message.spanId }, 'message.accepted', {
        messageId: message.messageId,
        proof: 'screen',
      }),
    ])
    return true
  }

  #isAccepted({ messageId }: Queued): boolean {
    return !(this.#watch.state()?.queue ?? []).some((one) => one.messageId === messageId)
  }

  async #shows(text: string, pane: PaneRef, withinMs: number): Promise<boolean> {
    const { clock } = this.#parts
    const until = clock.monotonic() + withinMs
    for (;;) {
      if (this.#isOurs(await this.#look(pane), text)) return true
      if (clock.monotonic() > until) return false
      await this.#sleep(lookMs / 2)
    }
  }

  /** A long paste is shown as a marker only; an exact beginning is enough, since the box was empty before. */
  #isOurs({ composer }: ScreenReading, text: string): boolean {
    if (composer.state !== 'text') return false
    const { marker } = this.#typing()
    if (marker?.test(composer.text)) return true
    const shown = composer.text.replaceAll(/\s+/g, '')
    const sent = text.replaceAll(/\s+/g, '')
    return (
      shown !== '' &&
      (sent.startsWith(shown) ||
        shown.startsWith(sent) ||
        isSameText(composer.text, text) ||
        sent.endsWith(shown.slice(-40)))
    )
  }

  async #interrupt(pane: PaneRef): Promise<void> {
    const { clock, terminal } = this.#parts
    await terminal.keys(pane, this.#typing().interrupt, this.#stopped.signal)
    const until = clock.monotonic() + interruptMs
    while (clock.monotonic() < until) {
      await this.#sleep(lookMs)
      const reading = await this.#look(pane)
      if (!reading.isWorking && reading.composer.state !== 'none') return
    }
  }

  async #look(pane: PaneRef): Promise<ScreenReading> {
    const { terminal } = this.#parts
    // Keys would go to a person's scrolling, not to the program.
    await terminal.leaveMode(pane, this.#stopped.signal)
    const reading = await readScreen(this.#parts, this.#watch, this.#stopped.signal)
    return reading ?? { composer: { state: 'none' }, isWorking: false }
  }

  #typing(): Typing {
    const managed = this.#watch.state()?.managed
    return this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName].dialect.typing(
      managed?.cliVersion ?? '',
    )
  }

  #isOwnProgram(): boolean {
    return this.#watch.state()?.managed?.cli === 'custom'
  }

  async #textOf(message: Queued): Promise<string | undefined> {
    const bytes = message.vault === undefined ? undefined : await this.#parts.vault.get(message.vault)
    if (!bytes) return undefined
    const managed = this.#watch.state()?.managed
    const { dialect } = this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName]
    return dialect.harmless(new TextDecoder().decode(bytes))
  }

  /** Looks again by itself: nothing tells when a person has emptied the box. */
  #later(): false {
    this.#sleep(1000).then(
      () => this.poke(),
      () => {},
    )
    return false
  }

  async #stage(message: Queued, stage: Exclude<Stage, 'queued'>): Promise<void> {
    await this.#parts.engine.perform([
      draftOf({ ...this.#watch.root, spanId: message.spanId }, 'message.delivered', {
        messageId: message.messageId,
        stage,
      }),
    ])
  }

  async #fail(message: Queued, errorType: 'timeout' | 'gone', reason: string): Promise<boolean> {
    await this.#parts.engine.perform([
      draftOf({ ...this.#watch.root, spanId: message.spanId }, 'message.failed', {
        messageId: message.messageId,
        errorType,
        reason,
      }),
    ])
    return true
  }

  #sleep(ms: number): Promise<void> {
    return this.#parts.clock.sleep(ms, this.#stopped.signal)
  }
}

/** The program or the session ended in the middle of it, which is told by its own event. */
const isOver = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')
