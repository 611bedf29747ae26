import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Screen } from '../../src/contract/screen.ts'

const folder = join(import.meta.dirname, '..', 'golden', 'claude')

/** The versions that screens and payloads were recorded of. */
export const claudeVersions = ['2.1.197', '2.1.325'] as const

/** A recorded screen; the first line of its file has its size and where the cursor was. */
export function claudeScreen(name: string, version: string): Screen {
  const [head = '', ...lines] = readFileSync(join(folder, 'screens', `${name}@${version}.txt`), 'utf8')
    .replace(/\n$/, '')
    .split('\n')
  const [width = 0, height = 0, x = 0, y = 0] = head.split(/[x ,]/).map(Number)
  return { lines, width, height, cursor: { x, y, isVisible: false }, isInMode: false, title: '' }
}

/** Every recorded screen, by name and version. */
export const claudeScreens = (): readonly { readonly name: string; readonly version: string }[] =>
  readdirSync(join(folder, 'screens')).map((file) => {
    const [name = '', version = ''] = file.replace(/\.txt$/, '').split('@')
    return { name, version }
  })

/** A recorded payload of a hook. */
export const claudeHook = (name: string, version: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder, 'hooks', version, `${name}.json`), 'utf8')) as Record<string, unknown>

/** The lines of a recorded conversation. */
export const claudeLines = (name: string, version: string): readonly string[] =>
  readFileSync(join(folder, 'transcripts', version, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')

/** The names of the recorded payloads, or conversations, of a version. */
export const claudeNames = (kind: 'hooks' | 'transcripts', version: string): readonly string[] =>
  readdirSync(join(folder, kind, version)).map((file) => file.replace(/\.jsonl?$/, ''))
