import type { CodingCliName } from '../../../src/contract/agent-clis.ts'
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
  for (let left = bytes; left > 0; ) {
    const part = `${pick(words, random)}${between}`
    left -= Buffer.byteLength(part)
    text += part
  }
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

/** Whether messages are of every kind and mode, or of every length and number of lines. */
export type Sizes = 'kinds' | 'lengths'

const mostChars = 50_000
const mostLines = 400
/** Of fewer characters there is no room for a mark. */
const leastChars = 12

/** A size, and what its text begins with where a CLI would take that for a command. */
type Size = { readonly chars: number; readonly lines: number; readonly start?: string }

const oneLine = (chars: number): Size => ({ chars, lines: 1 })
const short = (lines: number): Size => ({ chars: lines * 12, lines })

/** Where some begin to fold a paste, in characters and in lines. */
const folds: Partial<Record<CodingCliName, readonly Size[]>> = {
  gemini: [...[599, 600, 601].map(oneLine), ...[13, 14, 15].map(short)],
  pi: [...[1355, 1356].map(oneLine), ...[14, 15].map(short)],
}

/** The sizes at which something else begins: they are sent first, in every run. */
export const edgesOf = (cli: CodingCliName): readonly Size[] => [
  oneLine(1),
  oneLine(mostChars),
  { chars: mostChars, lines: mostLines },
  { chars: 80, lines: 3, start: '/exit ' },
  { chars: 80, lines: 1, start: '! ' },
  ...(folds[cli] ?? [short(mostLines)]),
]

/** Exactly so many characters in exactly so many lines, of words or of what is asked for. */
function ofSize(mark: string, { chars, lines, start = '' }: Size, word = () => 'plain words'): string {
  if (chars < leastChars) return 'a'.repeat(chars)
  const points = Array.from(`${start}${mark} `)
  const from = points.length
  while (points.length < chars) points.push(...Array.from(`${word()} `))
  points.length = chars
  for (let line = 1; line < lines; line++) points[from + Math.floor((line * (chars - from)) / lines)] = '\n'
  return [...points.slice(0, -1), '.'].join('')
}

/** From 1 to 50,000 characters in 1 to 400 lines: as many short ones as long ones, on a scale of tens. */
function ofAnyLength(mark: string, random: () => number): string {
  const scale = (most: number) => Math.round(most ** random())
  const chars = scale(mostChars)
  const lines = Math.max(1, Math.min(scale(mostLines), Math.floor((chars - leastChars) / 2)))
  return chars < leastChars ? pick(tiny, random) : ofSize(mark, { chars, lines }, () => pick(words, random))
}

/** No more than what is promised to arrive. */
const clipped = (text: string): string =>
  Array.from(text.split('\n').slice(0, mostLines).join('\n')).slice(0, mostChars).join('')

export type PlanOptions = {
  readonly sessions: number
  readonly sizes?: Sizes | undefined
  /** Sent before all others, to one session after the other. */
  readonly edges?: readonly Size[] | undefined
}

/** What is sent, to whom and when: the same for the same seed. */
export function planMessages(
  count: number,
  seed: number,
  { sessions, sizes = 'kinds', edges = [] }: PlanOptions,
): readonly Planned[] {
  const random = seeded(seed)
  const total = shapes.reduce((sum, [share]) => sum + share, 0)
  const planned: Planned[] = edges.slice(0, count).map((size, n) => ({
    text: ofSize(`m${n}.`, size),
    mode: 'sequential',
    targets: [n % sessions],
    afterMs: 0,
  }))
  for (let n = planned.length, sent = n; sent < count; n++) {
    const isTiny = random() < 0.08
    let at = random() * total
    const [, ofKind] = shapes.find(([share]) => (at -= share) < 0) ?? shapes[0] ?? [1, (mark: string) => mark]
    const make = sizes === 'lengths' && random() < 0.7 ? ofAnyLength : ofKind
    const made = isTiny ? pick(tiny, random) : make(`m${n}.`, random)
    const text = sizes === 'lengths' ? clipped(made) : made
    const first = Math.floor(random() * sessions)
    const isForMany = random() < 0.04
    const targets = isForMany
      ? [...new Set([first, (first + 1) % sessions, (first + 2) % sessions])].slice(0, count - sent)
      : [first]
    const roll = sizes === 'lengths' ? 0 : random()
    const mode = isTiny || roll < 0.8 ? 'sequential' : roll < 0.93 ? 'important' : 'urgent'
    planned.push({ text, mode, targets, afterMs: random() < 0.5 ? 0 : random() * 300 })
    sent += targets.length
  }
  return planned
}
