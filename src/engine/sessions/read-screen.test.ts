import { expect, test } from 'vitest'
import type { ScreenReading, Signal } from '../../contract/signal.ts'
import { type Evidence, noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import { readScreen } from './read-screen.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

/** A session whose screen does not move and cannot be read; how often it was drawn again. */
function frozen(line: string) {
  let now = 0
  let redrawn = 0
  const screen = { lines: [line], width: 80, height: 1, cursor: { x: 0, y: 0, isVisible: true } }
  const parts = {
    clock: { now: () => now },
    clis: { claude: { dialect: { screen: () => ({ composer: { state: 'none' }, isWorking: false }) } } },
    terminal: {
      capture: async () => screen,
      redraw: async () => {
        redrawn += 1
      },
    },
  } as unknown as Parts
  const managed = { cli: 'claude', place: { serverId: 's', terminalId: 't', paneId: 'p' } }
  const watch = { state: () => ({ managed, queue: [] }), evidence: noEvidence } as unknown as SessionWatch
  return async (atMs: number) => {
    now = atMs
    const seen = await readScreen(parts, watch, new AbortController().signal)
    return { redrawn, againMs: seen?.againMs }
  }
}

test.for([
  ['a skin tone', 'thumbs 👍🏽 up'],
  ['joined emoji', 'a family 👩‍👩‍👧'],
  ['a flag', '🇩🇪'],
  ['a sign made an emoji', 'with ❤️'],
] as const)(
  '[MUS-325] with %s on it, a screen that stands still is drawn again within a second, each time',
  async ([, line]) => {
    const look = frozen(line)
    // Each look asks for the next one: rounds are too far apart.
    expect(await look(0)).toEqual({ redrawn: 0, againMs: 800 })
    expect(await look(800)).toEqual({ redrawn: 1, againMs: 800 })
    expect(await look(1600)).toEqual({ redrawn: 1, againMs: 800 })
    expect(await look(3000)).toEqual({ redrawn: 2, againMs: 800 })
  },
)

test.for(['plain words', 'e\u0301 n\u0303', '漢字かな', 'עברית مرحبا', 'tab    here   '])(
  '[MUS-325] what every terminal measures alike gets its time: %s',
  async (line) => {
    const look = frozen(line)
    expect(await look(0)).toEqual({ redrawn: 0 })
    expect((await look(3000)).redrawn).toBe(0)
    expect((await look(6000)).redrawn).toBe(1)
    expect((await look(12_000)).redrawn).toBe(1)
  },
)

/** A session that took a prompt at 10 s, while its screen looks as it does at rest. */
function atRest(...since: readonly Signal[]) {
  const state = { now: 0, drawnMs: 10_000, redrawn: 0, line: '> ' }
  const prompt: Signal = { kind: 'prompt', source: 'hook', at: 10_000, origin: 'person' }
  const evidence: Evidence = [prompt, ...since].reduce(observe, noEvidence)
  const reading: ScreenReading = { composer: { state: 'empty' }, isWorking: false }
  const parts = {
    clock: { now: () => state.now },
    clis: { claude: { dialect: { screen: () => reading } } },
    terminal: {
      capture: async () => ({ lines: [state.line], drawnMs: state.drawnMs }),
      redraw: async () => void (state.redrawn += 1),
    },
  } as unknown as Parts
  const managed = { cli: 'claude', place: { serverId: 's', terminalId: 't', paneId: 'p' } }
  const watch = { state: () => ({ managed, queue: [] }), evidence } as unknown as SessionWatch
  const look = async (atMs: number, drawnMs: number, line = '> ') => {
    Object.assign(state, { now: atMs, drawnMs, line })
    const seen = await readScreen(parts, watch, new AbortController().signal)
    return { isMute: seen?.isMute === true, redrawn: state.redrawn }
  }
  return look
}

test('[MUS-385] a program that stands still over its prompt is not at rest, whatever its screen shows, until it draws when it is told to', async () => {
  const look = atRest()
  expect(await look(11_000, 10_000)).toEqual({ isMute: true, redrawn: 0 })
  // It drew the box without the prompt, and nothing since.
  expect(await look(13_500, 11_000)).toEqual({ isMute: true, redrawn: 1 })
  expect(await look(15_000, 11_000)).toEqual({ isMute: true, redrawn: 1 })
  expect(await look(15_600, 11_000)).toEqual({ isMute: true, redrawn: 2 })
  expect(await look(60_000, 11_000)).toEqual({ isMute: true, redrawn: 3 })
  expect(await look(62_000, 60_000)).toEqual({ isMute: false, redrawn: 3 })
})

const working: ScreenReading = { composer: { state: 'empty' }, isWorking: true }

test('[MUS-385] a program that showed its work is at rest when its screen no longer moves: an answer may be written without a sign of work', async () => {
  const look = atRest({ kind: 'screen', source: 'pane', at: 12_000, reading: working })
  expect(await look(14_000, 14_000, 'slow 1')).toEqual({ isMute: true, redrawn: 0 })
  expect(await look(18_000, 18_000, 'slow 1 slow 2')).toEqual({ isMute: true, redrawn: 0 })
  expect(await look(20_000, 18_000, 'slow 1 slow 2')).toEqual({ isMute: true, redrawn: 0 })
  expect(await look(22_000, 18_000, 'slow 1 slow 2')).toEqual({ isMute: false, redrawn: 0 })
})

test('[MUS-385] a program that told the end of its turn is at rest when its screen is', async () => {
  const ended = atRest({ kind: 'turn-end', source: 'hook', at: 12_000, background: 0 })
  expect(await ended(13_000, 10_000)).toEqual({ isMute: false, redrawn: 0 })
})
