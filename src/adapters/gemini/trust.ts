import { promises as fs } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Foreign, foreign, foreignLine } from '../../contract/formats/foreign-json.ts'

/** Where Gemini notes which folders are trusted, and its settings. */
export type TrustFiles = { readonly folders: string; readonly settings: string }

/**
 * Whether Gemini trusts a folder. One it knows nothing of makes it ask while it already works, and a yes starts it
 * again with the same prompt: so a prompt must never be given where it would ask. A worktree is as trusted as the
 * checkout it belongs to.
 */
export async function isTrusted(folder: string, files: TrustFiles): Promise<boolean> {
  const trust = foreign(foreign((await jsonIn(files.settings))['security'])['folderTrust'])
  if (trust['enabled'] === false) return true
  const rules = await jsonIn(files.folders)
  const own = await ruleFor(folder, rules)
  if (own !== undefined) return own
  const checkout = await checkoutOf(folder)
  return checkout !== undefined && (await ruleFor(checkout, rules)) === true
}

/** The longest rule that covers a folder decides. */
async function ruleFor(folder: string, rules: Foreign): Promise<boolean | undefined> {
  const place = await real(folder)
  let [longest, answer]: [number, boolean | undefined] = [-1, undefined]
  for (const [path, level] of Object.entries(rules)) {
    const covered = await real(level === 'TRUST_PARENT' ? dirname(path) : path)
    const way = relative(covered, place)
    if (way.startsWith('..') || path.length <= longest) continue
    ;[longest, answer] = [path.length, level === 'TRUST_FOLDER' || level === 'TRUST_PARENT']
  }
  return answer
}

async function checkoutOf(folder: string): Promise<string | undefined> {
  const text = await textIn(join(folder, '.git'))
  return /^gitdir: (.+)\/\.git\/worktrees\/[^/\n]+$/m.exec(text)?.[1]
}

const real = (path: string): Promise<string> => fs.realpath(path).catch(() => path)

const jsonIn = async (path: string): Promise<Foreign> =>
  foreign(foreignLine(withoutComments(await textIn(path))))

/** What cannot be read says nothing; Gemini itself reports a broken file. */
const textIn = (path: string): Promise<string> => fs.readFile(path, 'utf8').catch(() => '')

const withoutComments = (text: string): string =>
  text.replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_match, kept?: string) => kept ?? '')
