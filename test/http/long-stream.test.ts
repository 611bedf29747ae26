import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a stream that goes on keeps nothing of the pieces that were sent', async () => {
  const program = join(import.meta.dirname, 'long-stream.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
  const { pieces, kept } = JSON.parse(stdout)
  expect(kept).toBeLessThan(pieces / 10)
})
