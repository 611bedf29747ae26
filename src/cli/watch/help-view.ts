import type { Paint } from '../render/paint.ts'

const keys: readonly (readonly [string, string])[] = [
  ['j k ↓ ↑', 'move; g G first and last, PageUp PageDown, Ctrl-U Ctrl-D'],
  ['Tab', 'the next one that waits for you'],
  ['Enter', 'attach to its terminal; Ctrl-Q or your detach key comes back'],
  ['Space', 'reply: type a line, Enter sends it, Esc forgets it'],
  ['y n', 'show what it asks: y allows, n denies, digits choose an answer'],
  ['i', 'interrupt what it is doing'],
  ['x x', 'end it and all below it'],
  ['o', 'peek at its terminal without attaching'],
  ['e', 'why it is thought to be in its state'],
  ['f ← →', 'fold and unfold what is below it'],
  ['/', 'show only what fits some words; Esc shows all again'],
  ['Ctrl-L', 'draw the screen anew'],
  ['q', 'leave; sessions go on'],
]

const signs: readonly (readonly [string, string])[] = [
  ['!', 'waits for you: a permission, a question, a plan, an approval'],
  ['▲ ✗', 'limited, stuck or crashed; ended in an error'],
  ['● ◌', 'at work; just starting'],
  ['○', 'idle; a ? after a state means that no sign has confirmed it for long'],
  ['✓', 'done; new until the cursor has been on it'],
  ['▸ +5 !2', 'folded: five below it, two of them wait for you'],
]

/** All keys and signs. */
export function helpLines(paint: Paint): string[] {
  const rows = (table: readonly (readonly [string, string])[]): string[] =>
    table.map(([key, does]) => `${paint('cyan', key.padEnd(10))}${does}`)
  return [
    ...rows(keys),
    '',
    ...rows(signs),
    '',
    'AGE since it began, LAST since its last sign of life, CTX how full its context is.',
    `Whole trees with somebody who waits stand first. ${paint('red', 'Red names')} may do anything unasked.`,
  ]
}
