import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { openPlain, recordIn } from './foreign-files.ts'
import { systemLineFiles } from './line-files.ts'

const noPaths = [['circle'], ['a\0b'], ['x'.repeat(5000)]]

/** A folder of records with ways out of it. */
function records() {
  const root = tempFolder('foreign-files-')
  const at = (...names: string[]) => join(root, ...names)
  for (const folder of ['kept', 'hidden']) mkdirSync(at(folder))
  writeFileSync(at('kept', 'own'), 'own\n')
  writeFileSync(at('hidden', 'other'), 'secret\n')
  symlinkSync(at('hidden', 'other'), at('kept', 'link'))
  symlinkSync(at('hidden'), at('kept', 'folder'))
  symlinkSync(at('kept', 'circle'), at('kept', 'circle'))
  execFileSync('mkfifo', [at('kept', 'pipe')])
  return at
}

test('[MUS-307] only a plain file at its own path is opened: no link, no way through one, no pipe, no folder', async () => {
  const at = records()
  const read = async (...names: string[]) =>
    (await systemLineFiles.read(at(...names), 0, 100))?.lines.map(({ text }) => text)
  expect(await read('kept', 'own')).toEqual(['own'])
  for (const names of [
    ['link'],
    ['folder', 'other'],
    ['pipe'],
    ['folder'],
    ['none'],
    ['own', 'below'],
    ...noPaths,
  ])
    expect(await read('kept', ...names), names.join('/')).toBeUndefined()
  expect(await openPlain(at('kept'))).toBeUndefined()
})

test('[MUS-307] a record is a file below the folder where they are kept, under its own name', async () => {
  const at = records()
  expect(await recordIn(at('kept'), at('kept', 'own'))).toBe(at('kept', 'own'))
  expect(await recordIn(at('hidden'), at('kept', 'folder', 'other'))).toBe(at('hidden', 'other'))
  for (const names of [['link'], ['folder', 'other'], ['..', 'hidden', 'other'], ['none'], [], ...noPaths])
    expect(await recordIn(at('kept'), at('kept', ...names)), names.join('/')).toBeUndefined()
  mkdirSync(at('kept2'))
  linkSync(at('kept', 'own'), at('kept2', 'own'))
  expect(await recordIn(at('kept'), at('kept2', 'own'))).toBeUndefined()
})
