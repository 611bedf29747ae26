import { expect, test } from 'vitest'
import { elapsed } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { toolRow } from './tool-row.ts'

const plain = (row: Parameters<typeof toolRow>[0], width = 60) =>
  toolRow(row, { width, paint: painter(false) })

test('[RUN-52] a call is one row that fits, with its failure rather than its target', () => {
  expect(plain({ tool: 'Read', target: 'src/a.ts', result: 'completed', durationMs: 12 })).toBe(
    '● Read src/a.ts  12 ms',
  )
  expect(
    plain({ tool: 'Bash', target: 'npm test\nnpm run x', result: 'failed', reason: 'exit 1\nmore' }),
  ).toBe('✗ Bash npm test …  exit 1 …')
  expect(plain({ tool: 'Write', target: 'x', result: 'denied', reason: 'not in its list' })).toBe(
    '⊘ Write x  denied: not in its list',
  )
  expect(plain({ tool: 'Read', target: 'x', result: 'completed', by: 'search' })).toBe('  ● search Read x')
  const wide = '文'.repeat(200)
  for (const width of [20, 40, 80])
    for (const result of ['completed', 'failed', 'denied'] as const)
      expect(
        textWidth(plain({ tool: 'Read', target: wide, result, reason: wide, durationMs: 5 }, width)),
      ).toBeLessThanOrEqual(width)
  expect(plain({ tool: 'Read', target: '\u001b[31mred', result: 'completed' })).not.toContain('\u001b')
})

test('[RUN-52] times are short', () => {
  expect([0, 999, 1400, 61_000].map(elapsed)).toEqual(['0 ms', '999 ms', '1.4 s', '1min'])
})
