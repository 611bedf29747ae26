import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { never, tempTmux } from '../../../test/support/temp-tmux.ts'
import { AppError } from '../../contract/errors.ts'
import { systemClock } from '../system/clock.ts'
import { connect, outputs } from './connection.ts'
import { literal, quote } from './paste-text.ts'
import { tmuxServer } from './tmux-server.ts'

/** A bare control client on a server of its own. */
async function client() {
  const { socket, folder } = tempTmux()
  const server = await tmuxServer({ socket, folder, command: 'tmux' })
  const link = await connect(server, systemClock, () => {})
  return { folder, run: async (commands: string[]) => outputs(await link.client.run(commands, never)) }
}

const control = fc.constantFrom(
  ...Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)),
  '\u007f',
  '\u0085',
)
const special = fc.constantFrom(...`'"\\$#{}[]()~;%|&<>*?! \t-=@:,.`.split(''))
const anyText = fc
  .array(fc.oneof(control, special, fc.string({ unit: 'binary', maxLength: 4 })), {
    minLength: 1,
    maxLength: 30,
  })
  .map((parts) => parts.join('').replaceAll('\0', ''))
  .filter((text) => text !== '')

test('[MUS-234] any text arrives in tmux as it was', async () => {
  const { folder, run } = await client()
  const path = join(folder, 'out')
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      await run([`set-buffer -b q -- ${quote(text)}`, `save-buffer -b q ${quote(path)}`])
      expect(readFileSync(path, 'utf8')).toBe(text)
    }),
    {
      ...runs(500),
      examples: [["'"], ['~'], ['~root'], ['$HOME'], ['%if 1'], ['a\nkill-server\n'], ['\\'], ['"'], [';']],
    },
  )
})

test('[MUS-234] formats in a literal argument are not expanded, and commands in it not run', async () => {
  const { folder, run } = await client()
  const touched = join(folder, 'touched')
  const part = fc.constantFrom(
    '#',
    '[',
    ']',
    '{',
    '}',
    '(',
    ')',
    ',',
    ':',
    'l',
    'pid',
    '#{pid}',
    `#(touch ${touched})`,
    'x',
    'é',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), async (parts) => {
      const text = `x${parts.join('')}`
      await run([`set-option -gF @text ${quote(literal(text))}`])
      const [[told] = []] = await run([`display-message -p '#{@text}'`])
      expect(told).toBe(text)
    }),
    { ...runs(300), examples: [[['#', '[']], [['#', '#', '[']], [['#', '#', '#', '[', '#']]] },
  )
  expect(() => readFileSync(touched)).toThrow()
})

test('[MUS-234] a NUL character is refused', () => {
  expect(() => quote('a\0b')).toThrow(AppError)
})
