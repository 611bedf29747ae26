import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { readSeen, writeSeen } from './run-watch.ts'

test('what was seen is remembered, the latest of it, in a file of its owner alone', () => {
  const home = tempFolder()
  expect(readSeen(home)).toEqual(new Set())
  writeSeen(home, new Set(['a', 'b']))
  expect(readSeen(home)).toEqual(new Set(['a', 'b']))
  const [file = ''] = readdirSync(home)
  expect(statSync(join(home, file)).mode & 0o777).toBe(0o600)
  writeSeen(home, new Set(Array.from({ length: 5000 }, (_, i) => String(i))))
  expect(readSeen(home).size).toBe(2000)
  expect(readSeen(home).has('4999')).toBe(true)
})

test('a file that is broken or cannot be written costs only the memory', () => {
  const home = tempFolder()
  writeFileSync(join(home, 'watch-seen.json'), '{"half')
  expect(readSeen(home)).toEqual(new Set())
  writeFileSync(join(home, 'watch-seen.json'), '{"other":1}')
  expect(readSeen(home)).toEqual(new Set())
  expect(() => writeSeen(join(home, 'nowhere'), new Set(['a']))).not.toThrow()
})
