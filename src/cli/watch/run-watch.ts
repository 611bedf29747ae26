import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Linked, linked } from '../../contract/linked.ts'
import type { Io } from '../io.ts'
import { Loop } from '../tui/loop.ts'
import { Screen } from '../tui/screen.ts'
import { Feed } from './feed.ts'
import { type Effect, type Input, openModel, type Step, type WatchModel } from './model.ts'
import { paint } from './paint.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'
import { layoutOf } from './selection.ts'

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
  readonly #loop: Loop<WatchModel, Input, Step>
  readonly #running = new Set<string>()
  readonly #acts = new Set<Promise<void>>()

  constructor(parts: Parts) {
    const { io, client, home, process } = parts
    this.#stop = linked(io.signal)
    const { signal } = this.#stop
    this.#parts = { ...parts, io: { ...io, signal } }
    this.#screen = new Screen(process, {
      typed: (typed) => this.#loop.take(typed),
      resized: (size) => this.#loop.take({ kind: 'resize', size }),
      returned: () => {
        this.#loop.take({ kind: 'resize', size: this.#screen.size() })
        this.#feed.refresh()
      },
      gone: () => this.#loop.leave(),
    })
    this.#feed = new Feed({
      client,
      signal,
      now: () => io.now(),
      sleep: (ms, until) => io.sleep(ms, until),
      loaded: (loaded) => this.#loop.take({ kind: 'loaded', ...loaded }),
      offline: ({ message }) => this.#loop.take({ kind: 'offline', why: message }),
    })
    this.#loop = new Loop<WatchModel, Input, Step>({
      model: openModel({
        now: io.now(),
        size: this.#screen.size(),
        color: io.isColored,
        seen: readSeen(home),
      }),
      reduce,
      act: ({ effects }) => {
        for (const effect of effects) this.#do(effect)
      },
      draw: (model) => this.#screen.show(paint(model)),
      isShown: () => this.#screen.isIn,
      tick: () => ({ kind: 'tick', now: io.now() }),
      tickMs,
    })
  }

  async run(): Promise<void> {
    const { io, home } = this.#parts
    const { seen } = this.#loop.model
    io.signal.addEventListener('abort', this.#loop.leave)
    this.#screen.open()
    try {
      this.#loop.draw()
      this.#loop.start()
      await Promise.race([this.#loop.over, this.#feed.run()])
    } finally {
      this.#screen.close()
      this.#loop.stop()
      if (this.#loop.model.seen !== seen) writeSeen(home, this.#loop.model.seen)
      await this.#settled()
      this.#stop[Symbol.dispose]()
    }
  }

  #do(effect: Effect): void {
    if (effect.kind === 'quit') this.#loop.leave()
    else if (effect.kind === 'suspend') this.#screen.suspend()
    else if (effect.kind === 'redraw') {
      this.#screen.forget()
      this.#loop.drawSoon()
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
        tell: (input) => this.#loop.take(input),
      })
    } catch (error) {
      // What was under way when the watch ended has nobody to tell it to.
      if (!io.signal.aborted) this.#loop.fail(error)
    } finally {
      this.#running.delete(name)
    }
  }
}

const fileName = 'watch-seen.json'
const most = 2000

/** The ends that somebody has looked at in an earlier watch; a file that cannot be read is none. */
export function readSeen(home: string): ReadonlySet<string> {
  try {
    const seen: unknown = JSON.parse(readFileSync(join(home, fileName), 'utf8'))
    return new Set(Array.isArray(seen) ? seen.filter((one) => typeof one === 'string') : [])
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code !== undefined) return new Set()
    throw error
  }
}

/** Keeps them for the next watch; a folder that cannot be written costs only the memory. */
export function writeSeen(home: string, seen: ReadonlySet<string>): void {
  const file = join(home, fileName)
  const fresh = `${file}.${process.pid}.new`
  try {
    writeFileSync(fresh, JSON.stringify([...seen].slice(-most)), { mode: 0o600 })
    renameSync(fresh, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

const second = 1000
const minute = 60 * second
const restMs = 10 * second

/** When the clock changes something on the screen: every second while ages are shown in seconds. */
function tickMs(model: WatchModel): number {
  const { mode, note, rows, offset, size, now, approvals } = model
  if (note !== undefined || mode.kind === 'overlay' || mode.kind === 'card') return second
  const shown = rows.slice(offset, offset + layoutOf(size).list)
  const isFresh = (at: string | null): boolean => at !== null && now - Date.parse(at) < minute
  const isAnyFresh = shown.some(
    ({ session }) => isFresh(session.completed_at ?? session.last_activity_at) || isFresh(session.created_at),
  )
  return isAnyFresh || approvals.some(({ requested_at }) => isFresh(requested_at)) ? second : restMs
}
