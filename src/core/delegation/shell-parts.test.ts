import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs, sized } from '../../../test/support/size.ts'
import { shellParts } from './shell-parts.ts'

/** What bash makes of a line in which every command is `p`. */
function byBash(line: string): readonly (readonly string[])[] | undefined {
  const script = `p() { printf '%s\\0' "$@" ''; printf '\\1'; }; set -f; eval "$1"`
  try {
    const said = execFileSync('bash', ['-c', script, 'bash', line], {
      encoding: 'utf8',
      stdio: 'pipe',
      cwd: '/',
    })
    return said
      .split('\u0001')
      .slice(0, -1)
      .map((one) => one.split('\0').slice(0, -2))
  } catch {
    return undefined
  }
}

test('[RUN-23] what is read of a line is what bash reads', () => {
  const pieces = [
    ['p ', 'p a', ' ', '\t', 'b', '"', "'", '\\', '#', ';', '&&', '\n', ' 2>&1', ' 2>/dev/null', '=', '-x'],
    ['"$"', '\\\n', '\r', '!', '}', ']', '%', '^', ',', '\\"', "\\'", "''", 'é'],
  ].flat()
  const piece = fc.constantFrom(...pieces)
  let compared = 0
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (chosen) => {
      const line = `p ${chosen.join('')}`
      const read = shellParts(line)
      if (!read.ok || !read.parts.every(([first]) => first?.text === 'p')) return
      const told = byBash(line)
      if (told === undefined || !read.parts.flat().every((word) => word.isFixed)) return
      compared += 1
      const words = read.parts.map((part) => part.slice(1).map(({ text }) => text))
      expect(told).toEqual(words)
    }),
    runs(600),
  )
  expect(compared).toBeGreaterThan(sized(100, 10))
})

test('[RUN-23] a word that may still become another one is told apart', () => {
  const fixed = (line: string) => {
    const read = shellParts(line)
    return read.ok && read.parts.flat().map(({ isFixed }) => isFixed)
  }
  expect(fixed(`a 'b*' "c?" \\*d`)).toEqual([true, true, true, true])
  expect(fixed('$a "$b" c* ~/d e[1]')).toEqual([false, false, false, false, false])
})
