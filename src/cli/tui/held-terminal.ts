import { writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { readKeys, type Typed } from './read-keys.ts'

/** How large a terminal is. */
export type Size = { readonly columns: number; readonly rows: number }

/** What is written when the terminal is taken, and when it is given back. */
export type HoldCodes = { readonly enter: string; readonly leave: string }

/** What a held terminal tells of. */
export type TerminalListener = {
  typed(typed: Typed): void
  resized(size: Size): void
  /** It was taken: nothing that was drawn before is there. */
  entered(): void
  /** It was away, for a job in the background or another program, and is back. */
  returned(): void
  /** There is nobody at the other end any more. */
  gone(): void
}

// A lone escape is the key only if nothing follows; over a slow line a sequence comes in two pieces.
const escapeMs = 40

/** The terminal while it is ours: every key is heard, and it is always given back as it was. */
export class HeldTerminal {
  readonly #process: NodeJS.Process
  readonly #codes: HoldCodes
  readonly #listener: TerminalListener
  readonly #decoder = new StringDecoder('utf8')
  #isIn = false
  /** Another program has the terminal. */
  #isLent = false
  #rest = ''
  #late: NodeJS.Timeout | undefined
  #unstopped: NodeJS.Timeout | undefined

  constructor(process: NodeJS.Process, codes: HoldCodes, listener: TerminalListener) {
    this.#process = process
    this.#codes = codes
    this.#listener = listener
  }

  get isIn(): boolean {
    return this.#isIn
  }

  size(): Size {
    const { columns, rows } = this.#process.stdout
    return { columns: columns || 80, rows: rows || 24 }
  }

  /** Takes the terminal, for as long as the program lives or until it is given back. */
  open(): void {
    const { stdin, stdout } = this.#process
    stdin.on('data', this.#onData)
    stdin.on('end', this.#onGone)
    stdin.on('error', this.#onGone)
    stdout.on('resize', this.#onResize)
    this.#process.on('SIGTSTP', this.#onStop)
    this.#process.on('SIGCONT', this.#onContinue)
    // A bug is told on the terminal as it was, not on the one that goes away with us.
    this.#process.on('uncaughtExceptionMonitor', this.#leave)
    this.#process.on('exit', this.#leave)
    this.#enter()
  }

  close(): void {
    const { stdin, stdout } = this.#process
    this.#leave()
    clearTimeout(this.#late)
    clearTimeout(this.#unstopped)
    stdin.off('data', this.#onData)
    stdin.off('end', this.#onGone)
    stdin.off('error', this.#onGone)
    stdout.off('resize', this.#onResize)
    this.#process.off('SIGTSTP', this.#onStop)
    this.#process.off('SIGCONT', this.#onContinue)
    this.#process.off('uncaughtExceptionMonitor', this.#leave)
    this.#process.off('exit', this.#leave)
  }

  write(text: string): void {
    if (this.#isIn && text !== '') this.#process.stdout.write(text)
  }

  /** Gives the terminal to another program for as long as that runs. */
  async lend<T>(run: () => Promise<T>): Promise<T> {
    this.#leave()
    this.#isLent = true
    try {
      return await run()
    } finally {
      this.#isLent = false
      this.#enter()
      this.#listener.returned()
    }
  }

  /** Goes to the background, as Ctrl-Z does for any program. */
  suspend(): void {
    this.#leave()
    this.#process.off('SIGTSTP', this.#onStop)
    // The whole job stops, not this process alone: whoever started it must see it stop.
    this.#process.kill(0, 'SIGTSTP')
    // Where no shell could bring it back the signal is dropped, and then nothing was stopped.
    this.#unstopped = setTimeout(this.#onContinue, 200)
  }

  #enter(): void {
    if (this.#isIn || this.#isLent) return
    this.#isIn = true
    this.#listener.entered()
    const { stdin } = this.#process
    // The mode is remembered, not asked for: what a shell changed meanwhile is only set again from off.
    stdin.setRawMode(false)
    stdin.setRawMode(true)
    stdin.resume()
    this.#put(this.#codes.enter)
  }

  readonly #leave = (): void => {
    if (!this.#isIn) return
    this.#isIn = false
    this.#put(this.#codes.leave)
    const { stdin } = this.#process
    stdin.setRawMode(false)
    stdin.pause()
  }

  readonly #onData = (data: Buffer): void => {
    clearTimeout(this.#late)
    this.#take(readKeys(this.#rest + this.#decoder.write(data)))
    if (this.#rest !== '') this.#late = setTimeout(() => this.#take(readKeys(this.#rest, true)), escapeMs)
  }

  #take({ typed, rest }: ReturnType<typeof readKeys>): void {
    this.#rest = rest
    for (const one of typed) this.#listener.typed(one)
  }

  readonly #onResize = (): void => this.#listener.resized(this.size())

  readonly #onGone = (): void => this.#listener.gone()

  readonly #onStop = (): void => this.suspend()

  readonly #onContinue = (): void => {
    clearTimeout(this.#unstopped)
    this.#process.off('SIGTSTP', this.#onStop)
    this.#process.on('SIGTSTP', this.#onStop)
    // It may have been stopped by a signal that cannot be heard: then the terminal is as the shell left it.
    this.#isIn = false
    this.#enter()
    this.#listener.returned()
  }

  // Written at once, also while the process ends; a terminal that is gone takes nothing more.
  #put(codes: string): void {
    try {
      writeSync(this.#process.stdout.fd, codes)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EIO' && code !== 'EPIPE' && code !== 'EBADF' && code !== 'EAGAIN') throw error
    }
  }
}
