import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import type { ScreenReading } from '../../contract/signal.ts'
import { noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import type { Seen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import { TypingBox } from './typing-box.ts'

const pane = { server: 'server', session: '$1', pane: '%1' }

/**
 * A program that counts the keys that interrupt it: at the second it stops, five seconds after one it starts over, and
 * keys that it reads at once are another key. It reads only so often; each look and each step moves the clock.
 */
function counting({ readEveryMs = 50, needs = 2 } = {}) {
  const clock = manualClock()
  const program = {
    isWorking: true,
    dialog: undefined as ScreenReading['dialog'],
    lastKeyMs: undefined as number | undefined,
    unread: 0,
    count: 0,
    resets: [] as number[],
    presses: [] as number[],
    aborts: [] as number[],
    refused: 0,
    /** What happens at a time, once. */
    later: [] as { at: number; act: () => void }[],
  }
  let evidence = observe(noEvidence, { kind: 'prompt', source: 'hook', origin: 'person', at: clock.now() })
  let run: string | undefined = 'run_1'
  let readAt = readEveryMs
  const read = () => {
    program.resets = program.resets.filter((at) => {
      if (clock.monotonic() >= at) program.count = 0
      return clock.monotonic() < at
    })
    const due = program.later.filter(({ at }) => clock.monotonic() >= at)
    program.later = program.later.filter((one) => !due.includes(one))
    for (const { act } of due) act()
    if (clock.monotonic() < readAt) return
    readAt = clock.monotonic() + readEveryMs
    const isKey = program.unread === 1
    program.unread = 0
    if (!isKey) return
    if (program.dialog) program.refused += 1
    if (program.dialog || !program.isWorking) return
    program.count += 1
    program.resets.push(clock.monotonic() + 5000)
    if (program.count < needs) return
    program.aborts.push(clock.monotonic())
    program.count = 0
    program.isWorking = false
  }
  const reading = (): ScreenReading => ({
    composer: program.dialog ? { state: 'none' } : { state: 'empty' },
    isWorking: program.isWorking && !program.dialog,
    ...(program.isWorking && program.count > 0 && { isArmed: true }),
    ...(program.dialog && { dialog: program.dialog }),
  })
  const screen = () => ({
    lines: [],
    ...(program.lastKeyMs !== undefined && { lastKeyMs: program.lastKeyMs }),
  })
  const parts = {
    clock,
    terminal: {
      capture: async () => screen(),
      keys: async () => {
        program.presses.push(clock.monotonic())
        program.unread += 1
        return true
      },
      redraw: async () => {},
    },
    clis: { opencode: { dialect: { screen: reading, typing: () => ({ interrupt: ['Escape'] }) } } },
  } as unknown as Parts
  const watch = {
    state: () => ({
      managed: { cli: 'opencode', place: { serverId: 'server', terminalId: '$1', paneId: '%1' } },
    }),
    get evidence() {
      return evidence
    },
    turns: {
      get open() {
        return run
      },
    },
  } as unknown as SessionWatch
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const box = new TypingBox(parts, {
    watch,
    signal: stop.signal,
    transcript: {
      settled: async () => program.later.find(({ at }) => at === Number.POSITIVE_INFINITY)?.act(),
    },
    lastTyped: async () => undefined,
  })
  const over = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const done = work.finally(() => {
      isOver = true
    })
    done.catch(() => {})
    while (!isOver) {
      for (let i = 0; i < 20; i++) await turn()
      if (isOver || clock.monotonic() > 120_000) break
      clock.advance(25)
      read()
    }
    return done
  }
  return {
    box,
    program,
    clock,
    interrupt: () => over(box.interrupt()),
    interruptFor: () =>
      over(box.interruptFor({ screen: screen(), reading: reading() } as unknown as Seen, pane)),
    /** At a moment, or when the record is read. */
    at: (at: number | 'record', act: () => void) =>
      program.later.push({ at: at === 'record' ? Number.POSITIVE_INFINITY : at, act }),
    begins: (runId: string) => {
      run = runId
      evidence = observe(evidence, {
        kind: 'prompt',
        source: 'transcript',
        origin: 'person',
        at: clock.now(),
      })
    },
  }
}

const permission = { kind: 'permission', title: 'May I?', options: ['Yes', 'No'] } as const

test.for([20, 400, 900, 1800])(
  '[MUS-347] a program that asks whether an interrupt is meant gets the key again once it has counted the first: it reads every %i ms',
  async (readEveryMs) => {
    const { interrupt, program } = counting({ readEveryMs })
    expect(await interrupt()).toBe('screen')
    expect(program.presses).toHaveLength(2)
    expect(program.aborts).toHaveLength(1)
  },
)

test('[MUS-347] keys that a program read as another key are pressed again, three times at most, and proved after the last', async () => {
  const { interrupt, program, clock } = counting({ readEveryMs: 4000 })
  expect(await interrupt()).toBe('screen')
  expect(program.aborts).toHaveLength(1)
  const dead = counting({ readEveryMs: Number.POSITIVE_INFINITY })
  expect(await dead.interrupt()).toBe('unproved')
  expect(dead.program.presses).toHaveLength(3)
  expect(dead.clock.monotonic() - (dead.program.presses.at(-1) ?? 0)).toBeGreaterThanOrEqual(10_000)
  for (const one of [clock, dead.clock]) expect(one.monotonic()).toBeLessThan(25_000)
})

test('[MUS-347] no key of an interrupt answers a dialog that came up after the first', async () => {
  for (const how of ['interrupt', 'interruptFor'] as const) {
    const world = counting()
    world.at(100, () => {
      world.program.dialog = permission
    })
    await world[how]()
    expect(world.program.presses).toHaveLength(1)
    expect(world.program.refused).toBe(0)
  }
})

test('[MUS-347] an interrupt presses no second key while a person types, and presses it when they are done', async () => {
  const { interrupt, program, clock, at } = counting()
  at(100, () => {
    program.lastKeyMs = clock.now()
  })
  expect(await interrupt()).toBe('screen')
  const [, ...later] = program.presses
  expect(Math.min(...later)).toBeGreaterThan(5000)
})

test('[MUS-347] the turn after the one that was interrupted is not: the record is read before a key is pressed again', async () => {
  const { interrupt, program, at, begins } = counting({ needs: 1, readEveryMs: 100 })
  at(150, () => {
    // It stopped, and what had waited began, before anybody looked.
    program.isWorking = true
  })
  at('record', () => begins('run_2'))
  expect(await interrupt()).toBe('transcript')
  expect(program.presses).toHaveLength(1)
})
