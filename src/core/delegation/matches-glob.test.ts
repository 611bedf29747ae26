import { matchesGlob as nodeMatches } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesGlob } from './globs.ts'

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
