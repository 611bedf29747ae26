import { promises as fs } from 'node:fs'
import { join } from 'node:path'

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

const namesIn = (folder: string): Promise<string[]> =>
  fs.readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
