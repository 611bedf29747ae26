import type { AgentCliName } from '../../contract/config/names.ts'
import type { Signal } from '../../contract/signal.ts'
import { type Evidence, timeOf } from '../../core/session/evidence/evidence.ts'
import type { SubagentInfo, TranscriptFile, TranscriptMemory } from '../../ports/agent-cli.ts'
import { conversationOf, type LaunchSpec, readSpec } from './launch.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

const pieceBytes = 1 << 20
const quietMs = 40
const rescanMs = 2000
const answerMs = 2000

type Followed = Pick<TranscriptFile, 'path' | 'agent'> & {
  readonly subagent: SubagentInfo
  offset: number
  readonly memory: TranscriptMemory
}

/**
 * Reads the transcripts of one session as they grow. After a restart they are read from the beginning:
 * what was written down before is known by its offset and not written again.
 */
export class TranscriptFollower {
  readonly #parts: Parts
  readonly #watch: SessionWatch
  readonly #files = new Map<string, Followed>()
  readonly #stopped = new AbortController()
  #env: LaunchSpec['env'] | undefined
  #reading: Promise<void> | undefined
  #again = false
  #rescanAt = 0
  #lookedAt = 0
  #current: string | undefined

  constructor(parts: Parts, watch: SessionWatch) {
    this.#parts = parts
    this.#watch = watch
  }

  /** Something may have been written, or a file may be there now. */
  poke(): void {
    this.#again = true
    this.#reading ??= this.#loop().finally(() => {
      this.#reading = undefined
    })
  }

  /** Looks again when the last look is so long ago, or found no record at all: not every change is told. */
  refresh(afterMs: number): void {
    if (this.#files.size === 0 || this.#parts.clock.monotonic() - this.#lookedAt >= afterMs) {
      this.#rescanAt = 0
      this.poke()
    }
  }

  /** Resolves when everything that is in the files now has been taken. */
  async settled(): Promise<void> {
    this.#rescanAt = 0
    this.poke()
    while (this.#reading) await this.#reading
  }

  /** The same, once the last answer of the turn, or that it was interrupted, is among them: a program writes it down a little after it has said so. */
  async answered(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    const until = clock.monotonic() + answerMs
    await this.settled()
    const isTold = () => hasLastAnswer(this.#watch.evidence) || isInterrupted(this.#watch.evidence)
    while (!isTold() && clock.monotonic() < until) {
      await clock.sleep(quietMs, signal)
      await this.settled()
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#reading
  }

  /** The file of the conversation that is held now: after `/clear` it is another one, and the old one is still followed. */
  get current(): string | undefined {
    return this.#current
  }

  /** The files that were found so far. */
  paths(): readonly string[] {
    return [...this.#files.keys()]
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopped
    while (this.#again && !signal.aborted) {
      this.#again = false
      try {
        await this.#find()
        let isNew = false
        for (const file of this.#files.values()) isNew = (await this.#readAll(file)) || isNew
        if (isNew) await this.#watch.take([])
        if (this.#again) await this.#parts.clock.sleep(quietMs, signal)
      } catch (error) {
        if (!signal.aborted) this.#parts.onBug(error, `transcript of ${this.#watch.id}`)
      }
    }
  }

  async #find(): Promise<void> {
    const now = this.#parts.clock.monotonic()
    if (now < this.#rescanAt && this.#files.size > 0) return
    this.#rescanAt = now + rescanMs
    this.#lookedAt = now
    const managed = this.#watch.state()?.managed
    if (!managed) return
    this.#env ??= (await readSpec(this.#parts, managed.launch))?.env
    const env = this.#env ?? this.#parts.surroundings.env
    const found = await this.#parts.clis[managed.cli as AgentCliName].transcripts(
      conversationOf(managed, env),
    )
    this.#current = found.find(({ agent }) => agent === undefined)?.path ?? this.#current
    for (const file of found) {
      if (this.#files.has(file.path)) continue
      const offset = file.agent === undefined ? (managed.recordFrom ?? 0) : 0
      const { path, agent, ...subagent } = file
      this.#files.set(path, { path, ...(agent && { agent }), subagent, offset, memory: {} })
      this.#parts.files.watch(file.path, () => this.poke(), this.#stopped.signal)
    }
  }

  /** False when there was nothing new. A file that cannot be read holds up no other: each subagent has its own. */
  async #readAll(file: Followed): Promise<boolean> {
    const { signal } = this.#stopped
    let isNew = false
    try {
      while (await this.#read(file)) {
        isNew = true
        signal.throwIfAborted()
      }
    } catch (error) {
      if (signal.aborted) throw error
      this.#parts.onBug(error, `transcript of ${this.#watch.id}: ${file.path}`)
    }
    return isNew
  }

  /** Takes one piece; false when there was nothing new. */
  async #read(file: Followed): Promise<boolean> {
    const read = await this.#parts.files.read(file.path, file.offset, pieceBytes)
    if (!read || read.lines.length === 0) return false
    const managed = this.#watch.state()?.managed
    const { dialect } = this.#parts.clis[(managed?.cli ?? 'custom') as AgentCliName]
    for (const line of read.lines) {
      const { agent, subagent, memory } = file
      const context = { memory, ...(agent && { agent, subagent }) }
      const signals = this.#signalsOf(() => dialect.line(line.text, context), `${file.path}:${line.start}`)
      const told = { producer: `transcript:${file.path}`, n: line.start + 1 }
      if (signals.length > 0) await this.#watch.take(signals, { via: 'transcript', told })
      file.offset = line.end
    }
    return true
  }

  /** A line that its dialect stumbles over would be met again at every look, and nothing after it ever read. */
  #signalsOf(read: () => readonly Signal[], place: string): readonly Signal[] {
    try {
      return read()
    } catch (error) {
      this.#parts.onBug(error, `a line of the transcript of ${this.#watch.id}, skipped: ${place}`)
      return []
    }
  }
}

/** Where a record does not say which answer is the last, any answer since the prompt and the last call is. */
function hasLastAnswer({ last }: Evidence): boolean {
  const { response, prompt, 'tool-end': call } = last
  if (response === undefined || response.at < timeOf(prompt)) return false
  return response.isLast ?? response.at >= timeOf(call)
}

const isInterrupted = ({ last: { interrupted, prompt } }: Evidence): boolean =>
  interrupted !== undefined && interrupted.at >= timeOf(prompt)
