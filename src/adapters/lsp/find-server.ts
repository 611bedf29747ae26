import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../system/run-program.ts'

/** The language server of a project, or why there is none. */
export type FoundServer =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly reason: string }

/** TypeScript brings one from 7 on; before, one of the project or of the machine is taken. */
export async function findServer(workspace: string, path: string): Promise<FoundServer> {
  const bin = join(workspace, 'node_modules', '.bin')
  const tries: readonly (readonly [string, readonly string[], boolean])[] = [
    [join(bin, 'tsc'), ['--lsp', '-stdio'], (await majorOf(workspace)) >= 7],
    [join(bin, 'tsgo'), ['--lsp', '-stdio'], true],
    [join(bin, 'typescript-language-server'), ['--stdio'], true],
    ['typescript-language-server', ['--stdio'], true],
    ['tsgo', ['--lsp', '-stdio'], true],
  ]
  for (const [command, args, isRight] of tries) {
    const program = isRight ? await findProgram(command, path) : undefined
    if (program !== undefined) return { ok: true, argv: [program, ...args] }
  }
  return {
    ok: false,
    reason:
      'there is no TypeScript language server: install typescript 7 or typescript-language-server in the project',
  }
}

async function majorOf(workspace: string): Promise<number> {
  const file = join(workspace, 'node_modules', 'typescript', 'package.json')
  const text = await fs.readFile(file, 'utf8').catch(() => '')
  return Number(/"version"\s*:\s*"(\d+)\./.exec(text)?.[1] ?? 0)
}
