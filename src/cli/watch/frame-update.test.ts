import { expect, test } from 'vitest'
import { frameUpdate } from './frame-update.ts'

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
