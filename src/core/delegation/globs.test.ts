import { matchesGlob as nodeMatches } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { globsOverlap, matchesGlob, oneScope } from './globs.ts'

test.each([
  ['src/a.ts', 'src/*.ts', true],
  ['src/b/a.ts', 'src/*.ts', false],
  ['src/b/a.ts', 'src/**/*.ts', true],
  ['src/a.ts', 'src/**/*.ts', true],
  ['src/a.ts', '**', true],
  ['a.ts', '**/*.ts', true],
  ['src/a.ts', 'src', true],
  ['src/a.ts', './src/', true],
  ['srcs/a.ts', 'src', false],
  ['src', 'src/**', false],
  ['src/a.tsx', 'src/*.{ts,tsx}', true],
  ['src/a.js', 'src/*.{ts,tsx}', false],
  ['src/a1.ts', 'src/a[0-9].ts', true],
  ['src/ab.ts', 'src/a[!0-9].ts', true],
  ['a.b', 'a?b', true],
  ['a/b', 'a?b', false],
  ['a+b(c).ts', 'a+b(c).ts', true],
  ['axb', 'a.b', false],
  ['{a.ts', '{a.ts', true],
  ['🙂.md', '?.md', true],
  ['a/x/b', 'a/{x,y}/**', true],
  ['a/b', '{a,b}', true],
  ['a', 'a/**', false],
  ['a/b', '**/b', true],
  ['x.ts', '**/{a,x}.{js,ts}', true],
  ['a]b', 'a[z-a]b', false],
  ['src/deep/er/x', 'src/**/er', true],
  ['.env', '*', true],
])('[RUN-20] %s under %s: %s', (path, glob, isIn) => {
  expect(matchesGlob(path, glob)).toBe(isIn)
})

test('[RUN-20] it agrees with Node on plain globs', () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'a.ts', 'b.ts')
  const part = fc.constantFrom('a', 'b', '*', '*.ts', 'a*', '?', '**')
  fc.assert(
    fc.property(
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      (names, parts) => {
        const [path, glob] = [names.join('/'), parts.join('/')]
        // A name of a folder means what is in it here, so only what matches there has to match here.
        if (nodeMatches(path, glob) && !glob.endsWith('**')) expect(matchesGlob(path, glob)).toBe(true)
      },
    ),
  )
})

test('[RUN-20] no glob takes long, whatever it is made of', () => {
  const path = `${'a'.repeat(250)}/${'a'.repeat(250)}/${'a'.repeat(250)}`
  for (const glob of [
    `${'*a'.repeat(60)}b`,
    `${'**/'.repeat(40)}b`,
    '{a,b}'.repeat(40),
    `${'a*'.repeat(100)}`,
  ])
    expect(matchesGlob(path, glob)).toBe(glob.startsWith('a*'))
})

test.each([
  ['src/a.ts', 'src/a.ts', true],
  ['src/a.ts', 'src/b.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/*.js', false],
  ['src/*.ts', 'src/b/*.ts', false],
  ['src/**', 'src/b/c.ts', true],
  ['src/**', 'test/**', false],
  ['**/*.ts', 'src/**', true],
  ['src', 'src/deep/a.ts', true],
  ['src/a', 'src/ab', false],
  ['{a,b}/x', 'b/*', true],
  ['{a,b}/x', 'c/*', false],
  ['a[0-9].ts', 'a5.ts', true],
  ['a[0-9].ts', 'ab.ts', false],
  ['*a*', '*b*', true],
  ['a*', '*b', true],
  ['a*c', 'b*c', false],
  ['.', 'anything/at.all', true],
  ['a/**/b', 'a/b', true],
  ['a/**', 'a', true],
])('[COL-31] %s and %s: %s', (left, right, isMet) => {
  expect(globsOverlap(left, right)).toBe(isMet)
  expect(globsOverlap(right, left)).toBe(isMet)
})

const part = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', '?', '**', '[ab]', '[!a]', '{a,b}', 'a?')
const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
const path = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'aa', 'c'), { minLength: 1, maxLength: 5 })
  .map((names) => names.join('/'))

test('[COL-31] two globs that name one path overlap, whatever they are made of', () => {
  fc.assert(
    fc.property(glob, glob, path, (left, right, both) => {
      if (matchesGlob(both, left) && matchesGlob(both, right)) expect(globsOverlap(left, right)).toBe(true)
    }),
    runs(2000),
  )
})

test('[COL-31] globs without classes that overlap have a path in common', () => {
  const names = ['a', 'b', 'ab', 'aab', 'abb', 'x']
  const plain = fc
    .array(fc.constantFrom('a', 'b', '*', 'a*', '*b', '**'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'))
  const paths = names.flatMap((one) => [
    one,
    ...names.flatMap((two) => [`${one}/${two}`, ...names.map((three) => `${one}/${two}/${three}`)]),
  ])
  // A glob names a folder with all that is in it, so what the other one names may lie deeper.
  const under = ['', '/a', '/b'].flatMap((one, _, all) =>
    all.flatMap((two) => all.map((three) => `${one}${two}${three}`)),
  )
  const deeper = [...new Set(paths.flatMap((each) => under.map((rest) => `${each}${rest}`)))]
  fc.assert(
    fc.property(plain, plain, (left, right) => {
      if (globsOverlap(left, right))
        expect(deeper.some((each) => matchesGlob(each, left) && matchesGlob(each, right))).toBe(true)
    }),
  )
})

test('[COL-31] no pair of globs takes long', () => {
  const many = '{a,b,c}/'.repeat(6)
  expect(globsOverlap(many, many)).toBe(true)
  expect(globsOverlap(`${'*a'.repeat(200)}x`, `${'*b'.repeat(200)}y`)).toBe(false)
  expect(globsOverlap(`${'**/a/'.repeat(60)}x`, `${'**/b/'.repeat(60)}y.z`)).toBe(true)
})

test('[MUS-351] several limits are one that is surely within all of them, or none', () => {
  expect(oneScope([['src/**']])).toEqual(['src/**'])
  expect(oneScope([['**'], ['src/**', 'docs/**']])).toEqual(['src/**', 'docs/**'])
  expect(oneScope([['src/a.ts', 'lib/b.ts'], ['src/**']])).toEqual(['src/a.ts'])
  expect(oneScope([[], ['src/**']])).toEqual(['src/**'])
  expect(oneScope([['*.ts'], ['src/*.ts']])).toBeUndefined()
})
