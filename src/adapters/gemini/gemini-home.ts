import { promises as fs } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Foreign, foreign, foreignLine } from '../../contract/formats/foreign-json.ts'
import { namesIn } from '../system/foreign-files.ts'

/** Made by Gemini at some time: a link to what is not there yet is filled in by the first one that writes it. */
const files = [
  'settings.json',
  'oauth_creds.json',
  'google_accounts.json',
  'gemini-credentials.json',
  'installation_id',
  'mcp-oauth-tokens.json',
  'a2a-oauth-tokens.json',
  'projects.json',
  'state.json',
  'keybindings.json',
  'GEMINI.md',
]
/** A link to a missing folder cannot be filled in. */
const folders = ['tmp', 'history']

/** The name of the extension that is ours alone. */
export const extensionName = 'muster'

/** Where Gemini keeps its files, for an environment. */
export const geminiHome = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env['GEMINI_CLI_HOME'] || (env['HOME'] ?? '/'), '.gemini')

/**
 * A home in which everything is a link to the user's own, with one extension more. Gemini takes hooks from its
 * settings, from system settings that root must own, and from extensions: only the last can be added for one run,
 * and only they run in folders that are not trusted.
 */
export async function shadowHome(users: string, shadow: string): Promise<void> {
  for (const name of folders) await fs.mkdir(join(users, name), { recursive: true, mode: 0o700 })
  const names = new Set([...files, ...folders, ...(await namesIn(users))])
  names.delete('extensions')
  await linkAll([...names], users, shadow)
  const extensions = (await namesIn(join(users, 'extensions'))).filter((name) => name !== extensionName)
  await linkAll(extensions, join(users, 'extensions'), join(shadow, 'extensions'))
}

async function linkAll(names: readonly string[], from: string, to: string): Promise<void> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of names) {
    await fs.rm(join(to, name), { recursive: true, force: true })
    await fs.symlink(join(from, name), join(to, name))
  }
}

/** Where Gemini notes which folders are trusted, and its settings. */
type TrustFiles = { readonly folders: string; readonly settings: string }

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
