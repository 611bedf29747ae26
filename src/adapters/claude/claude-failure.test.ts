import { expect, test } from 'vitest'
import { resetTime } from './claude-failure.ts'

const at = Date.parse('2026-11-15T23:35:30Z')
const iso = (text: string, from = at) => {
  const found = resetTime(text, from)
  return found === undefined ? undefined : new Date(found).toISOString()
}

test('[MUS-134] a time of day is the next one in its zone', () => {
  expect(iso("You've hit your limit · resets 1:33am (UTC)")).toBe('2026-11-16T01:33:00.000Z')
  expect(iso('resets 11:35pm (America/New_York)')).toBe('2026-11-16T04:35:00.000Z')
  expect(iso('resets 3pm (Asia/Tokyo)')).toBe('2026-11-16T06:00:00.000Z')
  // The minute that is shown has begun.
  expect(iso('resets 11:35pm (UTC)')).toBe('2026-11-15T23:35:00.000Z')
  expect(iso('resets 12am (UTC)')).toBe('2026-11-16T00:00:00.000Z')
})

test('[MUS-134] a date is of this year or the next', () => {
  expect(iso('resets Nov 19, 12:48am (Europe/Berlin)')).toBe('2026-11-18T23:48:00.000Z')
  expect(iso('resets Jan 2, 9am (UTC)')).toBe('2027-01-02T09:00:00.000Z')
})

test('[MUS-134] the clocks may change in between', () => {
  // Summer time ends in Berlin on 25 October 2026 at 3:00.
  expect(iso('resets 9am (Europe/Berlin)', Date.parse('2026-10-24T20:00:00Z'))).toBe(
    '2026-10-25T08:00:00.000Z',
  )
  // In Los Angeles it ends on 1 November at 2:00, which is nine hours after the same time in UTC.
  expect(iso('resets 3am (America/Los_Angeles)', Date.parse('2026-11-01T05:00:00Z'))).toBe(
    '2026-11-01T11:00:00.000Z',
  )
})

test('[MUS-134] a time that is not told is not invented', () => {
  for (const text of [
    '',
    'rate limited',
    'resets soon',
    'resets 3pm',
    'resets 3pm (Nowhere/Land)',
    'resets Foo 3, 3pm (UTC)',
  ])
    expect(resetTime(text, at)).toBeUndefined()
})
