import { seeded } from '../random.ts'

export type Mode = 'sequential' | 'important' | 'urgent'

/** A message that the campaign sends, to one session or to several. */
export type Planned = {
  readonly text: string
  readonly mode: Mode
  readonly targets: readonly number[]
  /** How long the sender waits before it. */
  readonly afterMs: number
}

const words = [
  'plain words',
  'Zeile ü ñ',
  '漢字かな交じり文',
  'עברית مرحبا',
  'e\u0301 n\u0303 o\u0308',
  '👍🏽 👩‍👩‍👧 🇩🇪',
  '$HOME `x` "q" \'a\' #{pid} %d ;',
  'tab\there',
]

/** One byte has no room for a mark: it is known by its place in the order. */
export const tiny = ['a', '7', '.', '!', 'ok', '字', '/']

type Make = (mark: string, random: () => number) => string

const pick = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)] as T

const body = (bytes: number, random: () => number, between: string): string => {
  let text = ''
  while (Buffer.byteLength(text) < bytes) text += `${pick(words, random)}${between}`
  return text
}

/** Shapes of text by how often they come; the mark makes each one different from all others. */
const shapes: readonly (readonly [share: number, make: Make])[] = [
  [18, (mark, random) => `${mark} ${pick(words, random)}`],
  [14, (mark, random) => `${mark} ${body(40 + random() * 600, random, ' ')}`],
  [8, (mark, random) => `${mark}\n${body(60 + random() * 300, random, '\n')}`],
  [8, (mark, random) => `${mark} ${body(1000 + random() * 6000, random, random() < 0.5 ? ' ' : '\n')}`],
  [3, (mark, random) => `${mark} ${body(20_000 + random() * 80_000, random, random() < 0.5 ? ' ' : '\n')}`],
  [8, (mark, random) => `${pick(['!', '/', '#', '@', ' /', ' !', '&', '?'], random)}${mark} echo hi`],
  [5, (mark) => `${mark} \u0007bell \u001b[31mred\u001b[0m \u0000nul\r\nnext\rlast\u009b`],
  [4, (mark, random) => `${mark} ends with ${pick(['\\', '\\\\', 'a\\\n', '@file', ' '], random)}`],
  [3, (mark) => `   ${mark} blanks around   \n\n`],
]

/** What is sent, to whom and when: the same for the same seed. */
export function planMessages(count: number, seed: number, sessions: number): readonly Planned[] {
  const random = seeded(seed)
  const total = shapes.reduce((sum, [share]) => sum + share, 0)
  const planned: Planned[] = []
  for (let n = 0, sent = 0; sent < count; n++) {
    const isTiny = random() < 0.08
    let at = random() * total
    const [, make] = shapes.find(([share]) => (at -= share) < 0) ?? shapes[0] ?? [1, (mark: string) => mark]
    const text = isTiny ? pick(tiny, random) : make(`m${n}.`, random)
    const first = Math.floor(random() * sessions)
    const isForMany = random() < 0.04
    const targets = isForMany
      ? [...new Set([first, (first + 1) % sessions, (first + 2) % sessions])].slice(0, count - sent)
      : [first]
    const roll = random()
    const mode = isTiny || roll < 0.8 ? 'sequential' : roll < 0.93 ? 'important' : 'urgent'
    planned.push({ text, mode, targets, afterMs: random() < 0.5 ? 0 : random() * 300 })
    sent += targets.length
  }
  return planned
}
