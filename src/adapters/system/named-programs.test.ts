import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { areTrusted, namedPrograms } from './named-programs.ts'

let root: string
beforeEach(() => {
  root = realpathSync(tempFolder('named-'))
  mkdirSync(join(root, 'sub'))
  writeFileSync(join(root, 'run.sh'), 'echo good\n')
})
const names = async (...given: Parameters<typeof namedPrograms>) =>
  (await namedPrograms(...given)).map(({ file }) => file).toSorted()

test.each([
  'run.sh',
  './run.sh --now',
  'sh -c "cd . && ./run.sh"',
  '--config=run.sh',
  'FOO=1 sh ./sub/../run.sh; true',
  'cat $(run.sh)',
])('[MUS-310] %s names a file of the project', async (command) => {
  expect(await names(root, [command])).toEqual(['run.sh'])
  expect(await names(root, [join(root, 'run.sh')])).toEqual(['run.sh'])
})

test('[MUS-310] what leads out of the project, or nowhere, is not a file of it', async () => {
  expect(await names(root, ['/bin/sh', '../run.sh', 'sub', 'gone.sh', '\0', 'x'.repeat(9000)])).toEqual([])
})

test('[MUS-310] a command is judged by the files that it names where it runs', async () => {
  writeFileSync(join(root, 'sub', 'run.sh'), 'echo evil\n')
  expect(await names(root, ['sh run.sh'], join(root, 'sub'))).toEqual(['run.sh', 'sub/run.sh'])
})

test('[MUS-310] a program that became a link to another is another, inside of the project and outside', async () => {
  const [trusted] = await namedPrograms(root, ['run.sh'])
  const trusts = (file: string, sha256: string) => file === trusted?.file && sha256 === trusted.sha256
  const stillTrusted = async () => areTrusted(await namedPrograms(root, ['run.sh']), trusts)
  expect(await stillTrusted()).toBe(true)
  const evil = join(tempFolder('named-evil-'), 'evil.sh')
  writeFileSync(evil, 'echo evil\n')
  writeFileSync(join(root, 'other.sh'), 'echo evil\n')
  for (const target of [evil, 'other.sh']) {
    rmSync(join(root, 'run.sh'))
    symlinkSync(target, join(root, 'run.sh'))
    expect(await stillTrusted()).toBe(false)
  }
})

test('[MUS-310] a command with more words than are looked at is never trusted', async () => {
  const words = Array.from({ length: 1001 }, (_, i) => `word${i}`).join(' ')
  expect(areTrusted(await namedPrograms(root, [words]), () => true)).toBe(false)
})
