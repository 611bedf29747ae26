import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessionLookCommands } from '../../src/cli/commands/session-look.ts'
import { stateEvents } from '../../src/cli/news.ts'
import { untilReached, type Waiting } from '../../src/cli/until-reached.ts'
import type { Client } from '../../src/client/client.ts'
import type { CommandInput } from '../../src/contract/cli.ts'
import { AppError } from '../../src/contract/errors.ts'
import { eventTypes } from '../../src/contract/event.ts'
import type { Lifecycle } from '../../src/contract/values.ts'
import { runs } from '../support/size.ts'
import { detail, event, longId } from './session-data.ts'
import { collect, world } from './world.ts'

const { events, tail } = sessionLookCommands

const eventsInput = (more: Partial<CommandInput<'events'>> = {}): CommandInput<'events'> => ({
  session: '1749a2fe',
  type: [],
  limit: 100,
  follow: true,
  since: undefined,
  ...more,
})

/** A journal that grows while it is read: each list is put together slowly, and reaches further than it holds. */
function growing(steps: readonly number[], before: number) {
  let seq = before
  const asked: Record<string, unknown>[] = []
  const over = new AbortController()
  let growth = Promise.resolve()
  const grow = async () => {
    for (const more of steps) {
      seq += more
      for (let i = 0; i < 3; i++) await turn()
    }
  }
  const at = (number: number) => event(number, '15:10', 'checkpoint', `event ${number}`)
  const client: Partial<Client> = {
    health: async () => {
      const reached = { seq }
      growth = grow()
      return reached as never
    },
    listSessionEvents: async ({ after, limit = 100, ...rest }) => {
      asked.push({ after, limit, ...rest })
      const held = seq
      await turn()
      await turn()
      const from = Number(after ?? 0)
      const all = Array.from({ length: Math.max(0, held - from) }, (_, i) => at(from + i + 1))
      const page = after === undefined ? all.slice(-limit) : all.slice(0, limit)
      return { events: page, seq }
    },
    streamEvents: async function* () {
      await growth
      yield { id: `${seq}.0`, event: 'progress.checkpoint', data: {} }
      // A last look comes after the stream, then the test ends it as a person would.
      for (let i = 0; i < 40; i++) await turn()
      over.abort()
    },
  }
  return { client, asked, total: () => seq, signal: over.signal }
}

async function follow(
  steps: readonly number[],
  before: number,
  more: Partial<CommandInput<'events'>> = {},
  away = { times: 0 },
) {
  const { client: whole, asked, total, signal } = growing(steps, before)
  const client: Partial<Client> = {
    ...whole,
    listSessionEvents: async (input, options) => {
      if (input.after !== undefined && away.times > 0) {
        away.times--
        throw new AppError('unavailable', 'away')
      }
      return (whole as Client).listSessionEvents(input, options)
    },
  }
  const seen: number[] = []
  const { io, said } = world({ client, signal })
  try {
    for await (const one of events.run(eventsInput(more), io) as AsyncIterable<{ seq: number }>)
      seen.push(one.seq)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return { seen, asked, total: total(), said }
}

const upTo = (first: number, last: number) =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)

describe('events --follow', () => {
  test('[SM-41][SM-92] goes on after the printed ones without gap or repeat, however the list grows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 12 }), fc.nat(30), async (steps, before) => {
        const { seen, total } = await follow(steps, before)
        expect(seen).toEqual(upTo(1, total))
      }),
      runs(40),
    )
  })

  test('[SM-40][SM-41] -n shows the last few and then every new one', async () => {
    const { seen, total } = await follow([2, 0, 3], 50, { limit: 2 })
    expect(total).toBe(55)
    expect(seen.slice(0, 2).every((seq) => seq >= 49)).toBe(true)
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen)
    expect(seen.at(-1)).toBe(55)
    expect((await follow([0, 0, 0, 1], 5, { limit: 0 })).seen).toEqual([6])
  })

  test('[SM-41] more than a page at once is read page by page', async () => {
    expect((await follow([0, 0, 0, 2500], 0)).seen).toEqual(upTo(1, 2500))
  })

  test('[SM-41] a burst at the seam is cut like any past, and never told out of order', async () => {
    const { seen } = await follow([2500, 0, 0, 3], 0)
    expect(seen).toEqual(upTo(2401, 2503))
  })

  test('[SM-40] words and time go with every question', async () => {
    const { asked } = await follow([1], 3, { type: ['completed', 'error'], since: '10min' })
    expect(asked[0]).toEqual({
      id: '1749a2fe',
      type: 'completed,error',
      since: '2026-01-27T15:20:00.000Z',
      after: undefined,
      limit: 100,
    })
    expect(asked.at(-1)).toMatchObject({ type: 'completed,error', limit: 1000 })
  })

  test('[SM-39] without --follow it asks once and opens no stream', async () => {
    const { client, asked } = growing([], 4)
    const { streamEvents: _, health: __, ...still } = client
    const found = await collect(
      events.run(eventsInput({ follow: false, limit: 3 }), world({ client: still }).io),
    )
    expect(found.map(({ seq }) => seq)).toEqual([2, 3, 4])
    expect(asked).toHaveLength(1)
  })

  test('[SM-92] only events that there are ring', () => {
    expect(eventTypes).toEqual(expect.arrayContaining([...stateEvents]))
  })

  test('[SM-41] a daemon that is away for a moment is waited for, and nothing is lost', async () => {
    const away = { times: 1 }
    const { seen, total } = await follow([0, 0, 0, 2, 0, 3], 4, {}, away)
    expect(away.times).toBe(0)
    expect(seen).toEqual(upTo(1, total))
  })

  test('[SM-41] a stream that cannot be had is told, not waited for', async () => {
    const { client } = growing([], 1)
    const failing: Partial<Client> = {
      ...client,
      // oxlint-disable-next-line require-yield
      streamEvents: async function* () {
        throw new AppError('unavailable', 'the daemon ended the stream')
      },
    }
    await expect(collect(events.run(eventsInput(), world({ client: failing }).io))).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})

describe('waiting for sessions', () => {
  /** Sessions that take the next of their states each time something happens. */
  function stage(states: Record<string, Lifecycle[]>, rings = 20) {
    let step = 0
    const looks: string[] = []
    const client: Partial<Client> = {
      health: async () => ({ seq: 7 }) as never,
      getSession: async ({ id }) => {
        const short = String(id).slice(-6)
        looks.push(short)
        const given = states[short]
        if (given === undefined) throw new AppError('not_found', `no session ${id}`)
        return detail(short, { status: given[Math.min(step, given.length - 1)] ?? 'running' })
      },
      streamEvents: async function* (input, { signal }) {
        expect(input).toMatchObject({ after: '7' })
        for (; step < rings; ) {
          for (let i = 0; i < 20; i++) await turn()
          step++
          yield { id: `${step}.0`, event: 'session.state.changed', data: {} }
        }
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve()
          else signal.addEventListener('abort', () => resolve())
        })
      },
    }
    return { client, looks }
  }

  const run = async (states: Record<string, Lifecycle[]>, more: Partial<Waiting> = {}) => {
    const { client } = stage(states)
    const waiting: Waiting = {
      sessions: Object.keys(states),
      goal: 'complete',
      isAny: false,
      timeoutMs: undefined,
      ...more,
    }
    const seen = await collect(untilReached(client as Client, waiting, world({ client }).io))
    return seen.map(({ session_id, status }) => `${session_id} ${status}`)
  }

  test('[SM-91] each is given once, when it has ended', async () => {
    expect(
      await run({
        aaaaaa: ['running', 'running', 'completed'],
        bbbbbb: ['running', 'error'],
        cccccc: ['killed'],
      }),
    ).toEqual(['cccccc killed', 'bbbbbb error', 'aaaaaa completed'])
  })

  test('[SM-91] the first one is enough with --any', async () => {
    expect(
      await run(
        { aaaaaa: ['running', 'running', 'completed'], bbbbbb: ['running', 'completed'] },
        { isAny: true },
      ),
    ).toEqual(['bbbbbb completed'])
  })

  test('[SM-69][SM-70] rest and questions can be waited for; an end ends that too', async () => {
    const states: Record<string, Lifecycle[]> = { aaaaaa: ['running', 'idle', 'waiting_input', 'completed'] }
    expect(await run(states, { goal: 'idle' })).toEqual(['aaaaaa idle'])
    expect(await run(states, { goal: 'waiting' })).toEqual(['aaaaaa waiting_input'])
    expect(await run({ aaaaaa: ['running', 'killed'] }, { goal: 'waiting' })).toEqual(['aaaaaa killed'])
  })

  test('[SM-91] time that runs out names who is not there, with the exit of a timeout', async () => {
    const { client } = stage({ aaaaaa: ['completed'], bbbbbb: ['running'] }, 0)
    const waiting: Waiting = {
      sessions: ['aaaaaa', 'bbbbbb'],
      goal: 'complete',
      isAny: false,
      timeoutMs: 3000,
    }
    const seen: string[] = []
    const wait = async () => {
      for await (const { session_id } of untilReached(client as Client, waiting, world({ client }).io))
        seen.push(session_id)
    }
    await expect(wait()).rejects.toMatchObject({
      code: 'timeout',
      message: 'still waiting after 3 s: engineer-bbbbbb (bbbbbb) is running',
    })
    expect(seen).toEqual(['aaaaaa'])
  })

  test('[SM-91] a session that is not there is refused before anything is waited for', async () => {
    await expect(run({ aaaaaa: ['running'] }, { sessions: ['aaaaaa', 'zzzzzz'] })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('tail', () => {
  const entry = (n: number) => ({
    at: `2026-01-27T15:10:${String(n).padStart(2, '0')}.000Z`,
    who: 'user',
    text: `${n}`,
  })
  const entries = (count: number) => upTo(1, count).map(entry)

  test('[SM-4] shows the end, and follows what comes without a repeat', async () => {
    const counts = [5, 5, 7, 8]
    const over = new AbortController()
    const limits: unknown[] = []
    const client: Partial<Client> = {
      getSession: async () => detail('def456'),
      health: async () => ({ seq: 3 }) as never,
      getTranscript: async ({ limit }) => {
        limits.push(limit)
        const count = counts.length > 1 ? (counts.shift() ?? 0) : (counts[0] ?? 0)
        return { path: '/t', entries: entries(count).slice(-(limit ?? 50)) }
      },
      streamEvents: async function* (input) {
        expect(input).toEqual({ after: '3', session: longId('def456') })
        for (let i = 0; i < 3; i++) {
          yield { id: `${i}.0`, event: 'tool.call.started', data: {} }
          for (let j = 0; j < 30; j++) await turn()
        }
        over.abort()
      },
    }
    const { io } = world({ client, signal: over.signal })
    const seen: string[][] = []
    await (async () => {
      const shown = tail.run({ session: 'engineer', lines: 2, follow: true }, io)
      for await (const one of shown as AsyncIterable<{ entries: { text: string }[] }>)
        seen.push(one.entries.map(({ text }) => text))
    })().catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
    expect(seen).toEqual([['4', '5'], ['6', '7'], ['8']])
    expect(limits[0]).toBe(200)
  })

  test('[MUS-329] another conversation is shown from its beginning, and nothing is said to be missing', async () => {
    const over = new AbortController()
    const records = [
      { path: '/before', entries: entries(3) },
      { path: '/after', entries: upTo(7, 8).map(entry) },
    ]
    const client: Partial<Client> = {
      getSession: async () => detail('def456'),
      health: async () => ({ seq: 3 }) as never,
      getTranscript: async () => (records.length > 1 ? records.shift() : records[0]) as never,
      streamEvents: async function* () {
        yield { id: '4.0', event: 'session.updated', data: {} }
        for (let j = 0; j < 30; j++) await turn()
        over.abort()
      },
    }
    const { io, said } = world({ client, signal: over.signal })
    const seen: string[][] = []
    await (async () => {
      const shown = tail.run({ session: 'engineer', lines: 2, follow: true }, io)
      for await (const one of shown as AsyncIterable<{ entries: { text: string }[] }>)
        seen.push(one.entries.map(({ text }) => text))
    })().catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
    expect(seen).toEqual([
      ['2', '3'],
      ['7', '8'],
    ])
    expect(said).toEqual([])
  })

  test('[SM-4] without --follow it asks once, for as many as are wanted', async () => {
    const asked: unknown[] = []
    const client: Partial<Client> = {
      getTranscript: async (input) => {
        asked.push(input)
        return { path: null, entries: entries(9) }
      },
    }
    const [shown] = await collect(tail.run({ session: 'a', lines: 3, follow: false }, world({ client }).io))
    expect(shown?.entries.map(({ text }) => text)).toEqual(['7', '8', '9'])
    expect(asked).toEqual([{ id: 'a', limit: 3 }])
  })
})
