import { expect, test } from 'vitest'
import { age, clock, duration } from './figures.ts'

const now = Date.parse('2026-01-27T15:30:00.000Z')
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()

test('[SM-27] stretches of time are short words', () => {
  expect([0, 59.9, 60, 3599, 3600, 4800, 86_400, 190_000].map(duration)).toEqual([
    '0s',
    '59s',
    '1min',
    '59min',
    '1hr',
    '1hr 20min',
    '1day',
    '2days 4hr',
  ])
  expect([0, 0.2, 2, 59, 24 * 60, 120 * 24 * 60].map((minutes) => age(ago(minutes), now))).toEqual([
    'now',
    '12s',
    '2min',
    '59min',
    '1day',
    '120d',
  ])
  expect(clock('nonsense', now)).toBe('--:--')
})
