import { expect, test } from 'vitest'
import { narrowTools } from './allowed-tools.ts'

test('[MUS-279] work gets no tool that its role does not have, and none that is not allowed to it', () => {
  expect(narrowTools(['Read', 'Write'], undefined)).toEqual(['Read', 'Write'])
  expect(narrowTools(['Read', 'Write'], ['*'])).toEqual(['Read', 'Write'])
  expect(narrowTools(['Read', 'Write'], ['Write', 'Bash'])).toEqual(['Write'])
  expect(narrowTools(['*'], ['Write', 'Bash'])).toEqual(['Write', 'Bash'])
  expect(narrowTools(['Read'], [])).toEqual([])
})
