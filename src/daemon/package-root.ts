import { existsSync } from 'node:fs'

/** The folder of the package this code belongs to, from source or from a bundle. */
export function packageRoot(from: string = import.meta.url): URL {
  for (let at = new URL('./', from); ; at = new URL('../', at)) {
    if (existsSync(new URL('package.json', at))) return at
    if (at.pathname === '/') throw new Error(`no package.json above ${from}`)
  }
}
