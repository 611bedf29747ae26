import { describe, expect, test } from 'vitest'
import { SseParser } from '../../src/client/sse-parser.ts'
import type { SseRouteName } from '../../src/contract/routes.ts'
import { liveHub } from '../../src/http/live.ts'
import { Streams } from '../../src/http/streams.ts'
import { type MemoryJournal, memoryJournal } from '../support/memory-journal.ts'
import { manualClock } from './manual-clock.ts'
import { sampleEvent, sampleRun } from './sample-events.ts'

/** Of a subagent, whose end makes two runtime frames. */
const below = { payload: { agentId: 'd' } as never, parentRunId: sampleRun(9) }

// Kept short, since every byte of their frames is cut; the first and the last make two runtime frames.
const events = [
  sampleEvent('agent.completed', below),
  sampleEvent('progress.checkpoint', { payload: { message: 'ü😀\n' } as never }),
  sampleEvent('agent.failed', below),
  sampleEvent('agent.idle', { payload: { agentId: 'd' } as never }),
  sampleEvent('agent.killed', below),
]
const atStart = 2
const operator = { kind: 'operator', channel: 'cli' } as const

type World = { readonly journal: MemoryJournal; readonly streams: Streams; append(): void }

function world(): World {
  const journal = memoryJournal()
  const limits = { heartbeatMs: 1000, stallMs: 1000, maxClients: 9 }
  const bug = (error: unknown) => {
    throw error
  }
  const parts = { journal, live: liveHub(), clock: manualClock(), limits }
  const streams = new Streams({ ...parts, sees: () => false, topOf: (id) => id, onBug: bug })
  let n = 0
  const append = () => {
    const event = events[n++]
    if (event) journal.append(event)
  }
  for (let i = 0; i < atStart; i++) append()
  return { journal, streams, append }
}

/** One client that keeps what it saw and comes back with its last id, as the standard says a browser does. */
class Client {
  readonly seen: string[] = []
  #lastId = ''
  readonly #world: World
  readonly #name: SseRouteName

  constructor(given: World, name: SseRouteName) {
    this.#world = given
    this.#name = name
  }

  /** Reads from a new connection until `isEnough`, or up to a byte; answers how many bytes it took. */
  async connect(isEnough: () => boolean, maxBytes = Number.POSITIVE_INFINITY): Promise<number> {
    const parser = new SseParser({ lastId: this.#lastId })
    const body = this.#world.streams.open(this.#name, {
      input: { after: '0' },
      principal: operator,
      lastEventId: this.#lastId || undefined,
      signal: new AbortController().signal,
      cut: () => {},
    })
    const reader = body.getReader()
    let bytes = 0
    while (bytes < maxBytes && !isEnough()) {
      const { value = new Uint8Array() } = await reader.read()
      const got = value.slice(0, maxBytes - bytes)
      bytes += got.byteLength
      for (const block of parser.push(got)) {
        this.#lastId = block.id
        if (block.data !== undefined) this.seen.push(`${block.id} ${block.event} ${block.data}`)
      }
    }
    await reader.cancel()
    return bytes
  }
}

/** Every frame there is when all events are, from a client that was never cut, and the byte where each ends. */
async function uncut(name: SseRouteName): Promise<{ frames: string[]; ends: number[] }> {
  const all = world()
  for (const _ of events) all.append()
  const client = new Client(all, name)
  const parts = name === 'streamEvents' ? events.length : events.length + 3
  await client.connect(() => client.seen.length >= parts)
  return { frames: client.seen, ends: frameEnds(await raw(all, name)) }
}

/** All bytes of a stream as characters, one each. */
async function raw({ streams }: World, name: SseRouteName): Promise<string> {
  const signal = new AbortController().signal
  const body = streams.open(name, {
    input: { after: '0' },
    principal: operator,
    lastEventId: undefined,
    signal,
    cut: () => {},
  })
  const reader = body.getReader()
  const decoder = new TextDecoder('latin1')
  const greeting = decoder.decode((await reader.read()).value)
  const frames = decoder.decode((await reader.read()).value)
  await reader.cancel()
  return greeting + frames
}

/** The byte after each frame; the greeting is no frame. */
function frameEnds(text: string): number[] {
  return [...text.matchAll(/\n\n/g)].map(({ index }) => index + 2).slice(1)
}

async function cutTwice(name: SseRouteName, cuts: readonly [number, number], expected: readonly string[]) {
  const here = world()
  const client = new Client(here, name)
  const isDone = () => client.seen.length >= expected.length
  const first = client.connect(isDone, cuts[0])
  here.append()
  await first
  here.append()
  const second = client.connect(isDone, cuts[1])
  here.append()
  await second
  await client.connect(isDone)
  expect(client.seen, `cut at ${cuts.join(' and ')}`).toEqual(expected)
  expect(here.streams.count).toBe(0)
}

describe.each(['streamEvents', 'streamRuntime'] as const)('[MUS-100] %s', (name) => {
  // The first connection has the events of the start and one more; its cut must lie within them.
  const reachable = name === 'streamEvents' ? 3 : 5

  test('[MUS-100] cut after every pair of frames, each frame comes once and in order', async () => {
    const { frames, ends } = await uncut(name)
    expect(new Set(frames).size).toBe(frames.length)
    expect(ends).toHaveLength(frames.length)
    for (const one of ends.slice(0, reachable))
      for (const two of ends) await cutTwice(name, [one, two], frames)
  })

  test('[MUS-100] cut at every byte, twice, each frame comes once and in order', async () => {
    const { frames, ends } = await uncut(name)
    const first = ends[reachable - 1] ?? 0
    const second = ends.at(-1) ?? 0
    expect(first).toBeGreaterThan(500)
    for (let at = 0; at <= first; at++) await cutTwice(name, [at, (at * 31) % (second + 1)], frames)
    for (let at = 0; at <= second; at++) await cutTwice(name, [(at * 37) % (first + 1), at], frames)
  })
})

test('[RUN-42] each frame of the runtime has a number of its own that rises, the same for who comes later', async () => {
  const numbersIn = (frames: readonly string[]) =>
    frames.map((frame) => Number(JSON.parse(frame.slice(frame.indexOf('{'))).seq))
  const { frames } = await uncut('streamRuntime')
  const numbers = numbersIn(frames)
  expect(numbers).toHaveLength(events.length + 3)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
  // Another process on the same journal, and clients that come when some of it is over.
  const later = world()
  const client = new Client(later, 'streamRuntime')
  await client.connect(() => client.seen.length >= 3)
  for (const _ of events) later.append()
  await client.connect(() => client.seen.length >= numbers.length)
  expect(numbersIn(client.seen)).toEqual(numbers)
})
