import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Block, controlParser } from './control-client.ts'

function parsed(chunks: readonly string[]) {
  const blocks: Block[] = []
  const notices: string[] = []
  const feed = controlParser({ block: (block) => blocks.push(block), notice: (line) => notices.push(line) })
  for (const chunk of chunks) feed(chunk)
  return { blocks, notices }
}

const stream = [
  '%begin 1794785111 260 0',
  'of a hook',
  '%end 1794785111 260 0',
  '%sessions-changed',
  '%begin 1794785111 266 1',
  'one',
  '',
  '%end 1794785111 265 1',
  '%error 1 266 1',
  '%begin 9 9 1',
  '%exit',
  'é✓',
  '%end 1794785111 266 1',
  '/tmp/x: No such file or directory',
  '%begin 1794785112 267 1',
  'no buffer x',
  '%error 1794785112 267 1',
  '%unlinked-window-renamed @3 eng-1-ended',
  '',
].join('\n')

test('[MUS-234] answers are told from notices, and text that looks like the protocol from the protocol', () => {
  expect(parsed([stream])).toEqual({
    blocks: [
      {
        lines: ['one', '', '%end 1794785111 265 1', '%error 1 266 1', '%begin 9 9 1', '%exit', 'é✓'],
        isError: false,
      },
      { lines: ['no buffer x'], isError: true },
    ],
    notices: [
      '%sessions-changed',
      '/tmp/x: No such file or directory',
      '%unlinked-window-renamed @3 eng-1-ended',
    ],
  })
})

test('[MUS-234] it makes no difference where chunks end', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 20 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
      const chunks = at.slice(1).map((end, i) => stream.slice(at[i], end))
      expect(parsed(chunks)).toEqual(parsed([stream]))
    }),
  )
})
