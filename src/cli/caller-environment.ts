import { environmentNames } from '../contract/home.ts'
import type { Io } from './io.ts'

const longestName = 256
const longestValue = 128 * 1024

/** The environment that a session may take from; the daemon picks by its allow-list, but what proves who we are never leaves. */
export function callerEnvironment({ env, cwd }: Pick<Io, 'env' | 'cwd'>): Record<string, string> {
  const own: readonly string[] = [environmentNames.token, environmentNames.session]
  const kept = Object.entries({ ...env, PWD: cwd }).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      entry[0].length <= longestName &&
      entry[1].length <= longestValue &&
      !own.includes(entry[0]),
  )
  return Object.fromEntries(kept)
}
