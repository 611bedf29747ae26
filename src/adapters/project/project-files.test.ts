import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { styleGuideChars } from '../../contract/crew.ts'
import { projectFiles } from './project-files.ts'

function project() {
  const root = realpathSync(tempFolder('style-'))
  const crew = (styleGuide?: string | { file: string }) => ({
    name: 'mine',
    file: '/c/mine.yaml',
    styleGuide,
  })
  const read = (styleGuide?: string | { file: string }) =>
    projectFiles(root).styleGuide(root, crew(styleGuide) as never, new AbortController().signal)
  return { root, read }
}

test('[COL-42] a text is the style guide itself, and a file is read from the project', async () => {
  const { root, read } = project()
  mkdirSync(join(root, 'docs'))
  writeFileSync(join(root, 'docs/style.md'), '# Style\n\nTwo spaces.\n')
  expect(await read('docs/style.md')).toBe('docs/style.md')
  expect(await read({ file: 'docs/style.md' })).toBe('# Style\n\nTwo spaces.\n')
  expect(await read()).toBeUndefined()
})

test('[COL-42] a file that cannot be the style guide is refused with what to do', async () => {
  const { root, read } = project()
  const outside = tempFolder('outside-')
  writeFileSync(join(outside, 'secret'), 'secret')
  symlinkSync(join(outside, 'secret'), join(root, 'link.md'))
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling.md'))
  writeFileSync(join(root, 'empty.md'), ' \n')
  writeFileSync(join(root, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]))
  writeFileSync(join(root, 'long.md'), 'x'.repeat(styleGuideChars + 1))
  writeFileSync(join(root, 'huge.md'), 'x'.repeat(4 * styleGuideChars + 1))
  for (const [file, words] of [
    ['missing.md', `missing.md is not a file in ${root}; create it, or change style_guide in /c/mine.yaml`],
    ['dangling.md', 'is not a file'],
    ['.', 'is not a file'],
    ['link.md', 'outside the project'],
    ['empty.md', 'has no text; write some'],
    ['binary.md', 'has no text; write some'],
    ['long.md', 'has more than 32768 characters; shorten it'],
    ['huge.md', 'has more than 32768 characters; shorten it'],
  ] as const)
    await expect(read({ file }), file).rejects.toThrow(words)
})
