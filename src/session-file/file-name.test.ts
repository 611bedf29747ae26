import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextSequence, sessionFileName, taskSlug } from './file-name.ts'
import { isMultiAgentSession } from './multi-agent.ts'

const name = (title: string, isMulti: boolean, createdAt = '2026-01-26T10:00:00Z') =>
  sessionFileName({ createdAt, sequence: 1, title, isMulti })

test('[LOG-4, LOG-8] files are named by date, number and task, and multi-agent ones end in -multi', () => {
  expect(name('Implement timeline', true)).toBe('2026-01-26-001-implement-timeline-multi.json')
  expect(name('Implement timeline', false)).toBe('2026-01-26-001-implement-timeline.json')
})

test('[LOG-5] the date is the day in UTC', () => {
  expect(name('x', false, '2026-01-26T23:30:00-05:00')).toBe('2026-01-27-001-x.json')
  expect(name('x', false, '2026-01-26T03:30:00+05:00')).toBe('2026-01-25-001-x.json')
})

test('[LOG-6] numbers have three digits or more and go on from the last of the day', () => {
  expect(
    sessionFileName({ createdAt: '2026-01-26T10:00:00Z', sequence: 1234, title: 'x', isMulti: false }),
  ).toBe('2026-01-26-1234-x.json')
  const names = [
    '2026-01-26-001-a.json',
    'logs/2026-01-26-012-b-multi.json',
    '2026-01-27-099-c.json',
    'notes.txt',
    '2026-01-26-5-x.json',
  ]
  expect([
    nextSequence(names, '2026-01-26'),
    nextSequence(names, '2026-01-28'),
    nextSequence([], '2026-01-26'),
  ]).toEqual([13, 1, 1])
})

test('[LOG-7] a slug is never empty, never long, and has only letters, digits and single hyphens', () => {
  for (const [title, slug] of [
    ['Implement  user authentication!', 'implement-user-authentication'],
    ['Café à la carte', 'cafe-a-la-carte'],
    ['运动员评测模块实现', '运动员评测模块实现'],
    ['../../etc/passwd', 'etc-passwd'],
    ['C:\\x\u0000y', 'c-x-y'],
    ['', 'session'],
    ['😀 !!!', 'session'],
    ['Make it multi', 'make-it'],
    ['multi', 'session'],
    ['multi multi', 'session'],
    ['Multi step plan', 'multi-step-plan'],
    ['\ud800', 'session'],
    [`${'word '.repeat(40)}`, 'word-word-word-word-word-word-word-word-word-word-word-word'],
    ['x'.repeat(300), 'x'.repeat(60)],
    ['a\u{e0101}b c\u3164d', 'a-b-c-d'],
  ] as const)
    expect(taskSlug(title)).toBe(slug)
})

test('[LOG-7, LOG-10] whatever the title, the name fits a file system and says the format', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.boolean(), (title, isMulti) => {
      const file = name(title, isMulti)
      expect(file).toMatch(/^2026-01-26-001-[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*\.json$/u)
      expect(Buffer.byteLength(file)).toBeLessThan(255)
      expect(file.isWellFormed()).toBe(true)
      expect(isMultiAgentSession(file)).toBe(isMulti)
    }),
  )
})
