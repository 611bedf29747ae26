import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { privateFolder } from '../../adapters/system/durable-files.ts'

/** The `sm` that belongs to this daemon: beside it in a build, its source in a checkout. */
const entry = (): string => {
  const isBuilt = import.meta.url.endsWith('.mjs')
  return fileURLToPath(new URL(isBuilt ? './sm.mjs' : '../../cli/main.ts', import.meta.url))
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A folder with nothing but this `sm`, which goes first on the PATH of every session. */
export async function ownSm(folder: string): Promise<{ folder: string; path: string }> {
  await privateFolder(folder)
  const path = join(folder, 'sm')
  await writeFile(path, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(entry())} "$@"\n`)
  await chmod(path, 0o700)
  return { folder, path }
}
