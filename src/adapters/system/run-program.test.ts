import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { askProgram, askVersion, versionOf } from './run-program.ts'

const { signal } = new AbortController()

test('[MUS-213] a program answers with its code and words, also when it fails', async () => {
  const script = 'console.log("out"); console.error("err"); process.exit(3)'
  expect(await askProgram(process.execPath, ['-e', script], { signal })).toEqual({
    code: 3,
    stdout: 'out\n',
    stderr: 'err\n',
  })
})

test('[MUS-213] a program that is missing gives no answer, and one that is cut off ends at once', async () => {
  expect(await askProgram('/nonexistent/program', [], { signal })).toBeUndefined()
  const cut = new AbortController()
  const waiting = askProgram(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], cut)
  cut.abort(new Error('called off'))
  await expect(waiting).rejects.toThrow('called off')
})

test('[MUS-213] a program that reads its input gets none', async () => {
  const script = 'process.stdin.on("end", () => console.log("end")).resume()'
  expect(await askProgram(process.execPath, ['-e', script], { signal })).toMatchObject({ stdout: 'end\n' })
})

test('[MUS-213] the version is found in what a program says of itself', async () => {
  expect(await versionOf(process.execPath, signal)).toBe(process.versions.node)
  expect(await versionOf('/bin/false', signal)).toBeUndefined()
})

test('[MUS-213] a program that is too slow to say its version is not called missing', async () => {
  const folder = tempFolder()
  const slow = join(folder, 'slow')
  writeFileSync(slow, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 })
  await expect(askVersion(slow, { signal, limitMs: 100 })).rejects.toMatchObject({ code: 'timeout' })
  expect(await askProgram(slow, [], { signal, limitMs: 100 })).toBeUndefined()
  expect(await askVersion(join(folder, 'missing'), { signal })).toBeUndefined()
})
