import { expect, test } from 'vitest'
import { drawing, reflowed } from './inline-screen.ts'
import { frameUpdate } from './screen.ts'

const csi = '\u001b['

test('only lines that differ are written, each to its place, in one piece', () => {
  expect(frameUpdate(['a', 'b', 'c'], ['a', 'B', 'c'])).toBe(
    `${csi}?2026h${csi}2;1H${csi}KB${csi}0m${csi}?2026l`,
  )
  expect(frameUpdate(['a'], ['a'])).toBe('')
})

test('the first frame and one of another height are drawn whole', () => {
  for (const before of [undefined, ['a', 'b', 'c']])
    expect(frameUpdate(before, ['a', 'b'])).toBe(
      `${csi}?2026h${csi}0m${csi}H${csi}2J${csi}1;1H${csi}Ka${csi}0m${csi}2;1H${csi}Kb${csi}0m${csi}?2026l`,
    )
})

const end = { lines: ['words', '› typed', 'bar'], cursor: { row: 1, column: 7 } }
const codes = (text: string) => text.replaceAll('\u001b', '^')

test('[MUS-273] only what differs is written, and the cursor goes back to what is typed', () => {
  expect(drawing(end, [], end)).toBe('')
  const drawn = codes(drawing(end, ['for good'], end))
  expect(drawn).toContain('^[1A\r^[Kfor good^[0m\r\n^[Kwords^[0m\r\n')
  expect(drawn).toMatch(/bar\^\[0m\^\[J\^\[1A\r\^\[7C/)
})

test('[MUS-273] leaving takes the end away and leaves what stays', () => {
  const left = codes(drawing(end, ['bye'], undefined))
  expect(left).toContain('^[Kbye^[0m\r\n^[J')
  expect(left).not.toContain('bar')
})

test('[MUS-273] a terminal that became narrower has broken the lines above the cursor', () => {
  const wide = { lines: ['x'.repeat(25), '日'.repeat(10), '› y'], cursor: { row: 2, column: 3 } }
  expect(reflowed(wide, 10)?.cursor.row).toBe(3 + 2)
  expect(reflowed(wide, 40)?.cursor.row).toBe(2)
  expect(reflowed(undefined, 10)).toBeUndefined()
})
