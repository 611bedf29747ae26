import { seeded } from '../random.ts'

/** How unkind the program is at each moment; all of it follows from a seed. */
export type Weather = {
  readonly readPauseMs: () => number
  readonly drawDelayMs: () => number
  /** Shows half a frame for so long, or a whole one at once. */
  readonly tornMs: () => number
  /** How many presses of Enter after a paste are not noticed. */
  readonly swallows: () => number
  readonly busyMs: () => number
  readonly hookDelayMs: () => number
  readonly recordDelayMs: () => number
  readonly stallMs: () => number
  readonly relineMs: () => number
  readonly asks: () => boolean
  /** Letters of an old picture stay in the box until all is drawn anew. */
  readonly smears: () => boolean
  /** A paste of more characters is shown as a marker. */
  readonly mostShown: number
  readonly chance: (share: number) => boolean
}

/** Storms of one session: `0` is calm, and every further number has its own worst habit. */
export function weather(seed: number, session: number): Weather {
  const random = seeded(seed * 1000 + session)
  const chance = (share: number): boolean => random() < share
  const between = (least: number, most: number): number => least + random() * (most - least)
  const often = (habit: number, share: number, usual: number): boolean =>
    chance(session === 0 ? 0 : session % 6 === habit ? share : usual)
  return {
    chance,
    readPauseMs: () => (often(1, 0.5, 0.15) ? between(5, 80) : often(1, 0.06, 0.01) ? between(200, 1200) : 0),
    drawDelayMs: () => (often(2, 0.6, 0.2) ? between(40, 700) : 4),
    tornMs: () => (often(2, 0.3, 0.08) ? between(20, 160) : 0),
    swallows: () => (often(3, 0.4, 0.1) ? (chance(0.25) ? 2 : 1) : 0),
    busyMs: () =>
      session === 0
        ? between(5, 40)
        : often(4, 0.3, 0.1)
          ? between(700, 3500)
          : between(20, chance(0.3) ? 700 : 150),
    hookDelayMs: () => (often(5, 0.5, 0.15) ? between(20, 500) : 0),
    recordDelayMs: () => (often(5, 0.5, 0.2) ? between(20, 700) : 0),
    stallMs: () => (often(1, 0.08, 0.02) ? between(300, 2200) : 0),
    smears: () => often(2, 0.08, 0.01),
    asks: () => session > 0 && chance(0.12),
    relineMs: () => (often(3, 0.2, 0.05) ? between(30, 300) : 0),
    mostShown: session % 3 === 2 ? 6000 : 800,
  }
}
