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
  ['f ← →', 'fold and unfold; ▸ +5 !2 is five below it, two of whom wait for you'],
  ['/', 'show only what fits some words; Esc shows all again'],
  ['q', 'leave, sessions go on; Ctrl-Z to the background, Ctrl-L draws anew'],
]

const signs: readonly (readonly [string, string])[] = [
  ['!', 'waits for you: a permission, a question, a plan, an approval'],
  ['▲ ✗', 'limited, stuck or crashed; ended in an error'],
  ['● ◌', 'at work; just starting'],
  ['○', 'idle; a ? after a state means that no sign has confirmed it for long'],
  ['✓', 'done; new until the cursor has been on it'],
]

/** All keys and signs. */
export function helpLines(paint: Paint): string[] {
  const rows = (table: readonly (readonly [string, string])[]): string[] =>
    table.map(([key, does]) => `${paint('cyan', key.padEnd(10))}${does}`)
  return [
    ...rows(keys),
    '',
    ...rows(signs),
    'AGE since it began, LAST since its last sign of life, CTX how full it is.',
    `Trees with somebody who waits stand first. ${paint('red', 'Red names')} may do anything unasked.`,
  ]
}
