import { type Dirent, promises as fs } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A change of a file, as a language server is told. */
export type SourceChange = { readonly uri: string; readonly type: 1 | 2 | 3 }

const sources = /\.([cm]?[jt]sx?|json)$/
const passedOver = new Set(['node_modules', '.git', 'dist', 'build', 'coverage'])
const mostEntries = 20_000

/** Tells which sources changed since it was last asked; the first time it only looks. */
export function watchSources(workspace: string): () => Promise<readonly SourceChange[]> {
  let before: ReadonlyMap<string, number> | undefined
  return async () => {
    const now = await timesOf(workspace)
    const changes: SourceChange[] = []
    const tell = (path: string, type: SourceChange['type']) =>
      changes.push({ uri: pathToFileURL(path).href, type })
    for (const [path, time] of now) {
      const old = before?.get(path)
      if (old === undefined) tell(path, 1)
      else if (old !== time) tell(path, 2)
    }
    for (const path of before?.keys() ?? []) if (!now.has(path)) tell(path, 3)
    const isFirst = before === undefined
    before = now
    return isFirst ? [] : changes
  }
}

async function timesOf(workspace: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>()
  const waiting = [workspace]
  let entries = 0
  for (let folder = waiting.pop(); folder !== undefined && entries < mostEntries; folder = waiting.pop()) {
    const here = folder
    const found = await fs.readdir(here, { withFileTypes: true }).catch((): Dirent[] => [])
    entries += found.length
    for (const entry of found)
      if (entry.isDirectory() && !passedOver.has(entry.name)) waiting.push(join(here, entry.name))
    const files = found
      .filter((entry) => entry.isFile() && sources.test(entry.name))
      .map(({ name }) => join(here, name))
    const stats = await Promise.all(files.map((file) => fs.stat(file).catch(() => undefined)))
    for (const [i, file] of files.entries()) times.set(file, stats[i]?.mtimeMs ?? 0)
  }
  return times
}
