import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { missing } from '../../adapters/system/foreign-files.ts'
import { ProjectTrust } from '../../contract/project-trust.ts'
import type { FileTrust } from '../../ports/definitions.ts'

const Saved = z.array(ProjectTrust)

/** What was trusted when a daemon last ran; a file that is not there or damaged trusts nothing. */
export async function savedTrust(file: string): Promise<readonly ProjectTrust[]> {
  const text = (await readFile(file, 'utf8').catch(missing)) ?? '[]'
  try {
    return Saved.parse(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error
    return []
  }
}

/** What of that holds in a project. */
export const trustIn =
  (saved: readonly ProjectTrust[]) =>
  (root: string): FileTrust =>
  (file, sha256) =>
    saved.some(
      (one) =>
        one.root === root &&
        one.files.some((kept) => kept.file === file && kept.sha256 === sha256 && !kept.hasEnded),
    )
