import { promises as fs } from 'node:fs'
import { join } from 'node:path'

/** Made by Gemini at some time: a link to what is not there yet is filled in by the first one that writes it. */
const files = [
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

/** Where Gemini keeps its files, for an environment. */
export const geminiHome = (env: Readonly<Record<string, string | undefined>>): string =>
  join(env['GEMINI_CLI_HOME'] || (env['HOME'] ?? '/'), '.gemini')

/**
 * A folder in which everything of the user's is a link, but for the settings, which are a copy with hooks in it.
 * Gemini takes hooks from its settings alone, and reads system settings only when root owns them.
 */
export async function shadowHome(users: string, shadow: string): Promise<void> {
  await fs.mkdir(shadow, { recursive: true, mode: 0o700 })
  for (const name of folders) await fs.mkdir(join(users, name), { recursive: true, mode: 0o700 })
  const names = new Set([...files, ...folders, ...(await fs.readdir(users))])
  names.delete('settings.json')
  for (const name of names) await link(join(users, name), join(shadow, name))
}

async function link(target: string, path: string): Promise<void> {
  await fs.rm(path, { recursive: true, force: true })
  await fs.symlink(target, path)
}
