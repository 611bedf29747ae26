import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { takeFlag } from './take-flag.ts'

/** A role's text with what the arguments would add to the system prompt: the CLI takes one addition only. */
export async function takeRoleText(
  given: readonly string[],
  { text, workingDir }: { readonly text: string; readonly workingDir: string },
): Promise<{ readonly args: readonly string[]; readonly text: string }> {
  const inline = takeFlag(given, '--append-system-prompt')
  const file = takeFlag(inline.args, '--append-system-prompt-file')
  const read = file.value === undefined ? undefined : await contentOf(resolve(workingDir, file.value))
  const texts = [text, inline.value, read].filter((one) => one !== undefined && one !== '')
  return { args: file.args, text: texts.join('\n\n') }
}

function contentOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `--append-system-prompt-file ${path} cannot be read; mend it or leave it out`
    throw new AppError('invalid', message, { cause })
  })
}
