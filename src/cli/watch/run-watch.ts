import { type Linked, linked } from '../../contract/linked.ts'
import type { Io } from '../io.ts'
import { Feed } from './feed.ts'
import { type Effect, type Input, openModel, type WatchModel } from './model.ts'
import { paint } from './paint.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'
import { Screen } from './screen.ts'
import { readSeen, writeSeen } from './seen-file.ts'
import { tickMs } from './tick.ts'

/** The live screen: shows sessions and takes keys until somebody leaves it. */
export async function runWatch(io: Io, process: NodeJS.Process): Promise<void> {
  const daemon = await io.daemon()
  const client = await daemon.client()
  const watch = new Watch({ io, client, home: daemon.home, process })
  await watch.run()
}

const longestActMs = 15_000

type Parts = {
  readonly io: Io
  readonly client: Awaited<ReturnType<Awaited<ReturnType<Io['daemon']>>['client']>>
  readonly home: string
  readonly process: NodeJS.Process
}

class Watch {
  readonly #parts: Parts
  readonly #screen: Screen
  readonly #feed: Feed
  readonly #stop: Linked
  readonly #over = Promise.withResolvers<void>()
  readonly #running = new Set<string>()
  readonly #acts = new Set<Promise<void>>()
  #model: WatchModel
  #isPaintDue = false
  #ticking: NodeJS.Timeout | undefined

  constructor(parts: Parts) {
    const { io, client, home, process } = parts
    this.#stop = linked(io.signal)
    const { signal } = this.#stop
    this.#parts = { ...parts, io: { ...io, signal } }
    this.#screen = new Screen(process, {
      typed: (typed) => this.#take(typed),
      resized: (size) => this.#take({ kind: 'resize', size }),
      returned: () => {
        this.#take({ kind: 'resize', size: this.#screen.size() })
        this.#feed.refresh()
      },
      gone: () => this.#over.resolve(),
    })
    this.#feed = new Feed({
      client,
      signal,
      now: () => io.now(),
      sleep: (ms, until) => io.sleep(ms, until),
      loaded: (loaded) => this.#take({ kind: 'loaded', ...loaded }),
      offline: ({ message }) => this.#take({ kind: 'offline', why: message }),
    })
    this.#model = openModel({
      now: io.now(),
      size: this.#screen.size(),
      color: io.isColored,
      seen: readSeen(home),
    })
  }

  async run(): Promise<void> {
    const { io, home } = this.#parts
    const { seen } = this.#model
    const onAbort = () => this.#over.resolve()
    io.signal.addEventListener('abort', onAbort)
    this.#screen.open()
    try {
      this.#paint()
      this.#tick()
      await Promise.race([this.#over.promise, this.#feed.run()])
    } finally {
      this.#screen.close()
      clearTimeout(this.#ticking)
      if (this.#model.seen !== seen) writeSeen(home, this.#model.seen)
      await this.#settled()
      this.#stop[Symbol.dispose]()
    }
  }

  /** Takes an input; a bug ends the watch, so that it is told on a terminal that can be read. */
  #take(input: Input): void {
    try {
      const { model, effects } = reduce(this.#model, input)
      const isChanged = model !== this.#model
      this.#model = model
      for (const effect of effects) this.#do(effect)
      if (isChanged || input.kind === 'resize') this.#paintSoon()
    } catch (error) {
      this.#over.reject(error)
    }
  }

  #do(effect: Effect): void {
    if (effect.kind === 'quit') this.#over.resolve()
    else if (effect.kind === 'suspend') this.#screen.suspend()
    else if (effect.kind === 'redraw') {
      this.#screen.forget()
      this.#paintSoon()
    } else {
      const act = this.#perform(effect)
      if (effect.kind !== 'kill' && effect.kind !== 'decide' && effect.kind !== 'interrupt') return
      this.#acts.add(act)
      void act.finally(() => this.#acts.delete(act))
    }
  }

  /** Half an act is worse than none or all of it: what was begun may end, unless somebody is in a hurry. */
  async #settled(): Promise<void> {
    if (this.#acts.size === 0) return
    await Promise.race([Promise.allSettled(this.#acts), this.#parts.io.sleep(longestActMs).catch(() => {})])
  }

  async #perform(effect: Parameters<typeof perform>[0]): Promise<void> {
    const { client, io } = this.#parts
    // What is asked for again and again is not asked for twice at once.
    const name = 'id' in effect ? `${effect.kind} ${effect.id}` : effect.kind
    const isRepeated =
      effect.kind === 'explain' ||
      effect.kind === 'output' ||
      effect.kind === 'attach' ||
      effect.kind === 'chat'
    if (isRepeated && this.#running.has(name)) return
    this.#running.add(name)
    try {
      await perform(effect, {
        client,
        io,
        lend: (run) => this.#screen.lend(run),
        tell: (input) => this.#take(input),
      })
    } catch (error) {
      // What was under way when the watch ended has nobody to tell it to.
      if (!io.signal.aborted) this.#over.reject(error)
    } finally {
      this.#running.delete(name)
    }
  }

  /** Everything that came at once is one frame. */
  #paintSoon(): void {
    if (this.#isPaintDue) return
    this.#isPaintDue = true
    setImmediate(() => {
      this.#isPaintDue = false
      this.#paint()
    })
  }

  #paint(): void {
    if (!this.#screen.isIn) return
    try {
      this.#screen.show(paint(this.#model))
    } catch (error) {
      this.#over.reject(error)
    }
  }

  #tick(): void {
    this.#ticking = setTimeout(() => {
      if (this.#screen.isIn) this.#take({ kind: 'tick', now: this.#parts.io.now() })
      this.#tick()
    }, tickMs(this.#model))
  }
}
