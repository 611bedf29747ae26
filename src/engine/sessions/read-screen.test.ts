import { expect, test } from 'vitest'
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
  const watch = { state: () => ({ managed, queue: [] }) } as unknown as SessionWatch
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
