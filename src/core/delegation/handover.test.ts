import { expect, test } from 'vitest'
import { handoffLoop } from './gate-call.ts'

test('[MUS-258] control may go the same way three times, and the circle is named the fourth time', () => {
  const trail = ['lead']
  for (let i = 0; i < 3; i++) {
    expect(handoffLoop(trail, 'coder')).toBeUndefined()
    trail.push('coder')
    expect(handoffLoop(trail, 'lead')).toBeUndefined()
    trail.push('lead')
  }
  expect(handoffLoop(trail, 'coder')).toEqual(['coder', 'lead', 'coder'])
  expect(handoffLoop(trail, 'engineer')).toBeUndefined()
})
