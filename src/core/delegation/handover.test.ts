import { expect, test } from 'vitest'
import { handoverCircle } from './handover.ts'

test('[MUS-258] control may go the same way three times, and the circle is named the fourth time', () => {
  const trail = ['lead']
  for (let i = 0; i < 3; i++) {
    expect(handoverCircle(trail, 'coder')).toBeUndefined()
    trail.push('coder')
    expect(handoverCircle(trail, 'lead')).toBeUndefined()
    trail.push('lead')
  }
  expect(handoverCircle(trail, 'coder')).toEqual(['coder', 'lead', 'coder'])
  expect(handoverCircle(trail, 'engineer')).toBeUndefined()
})
