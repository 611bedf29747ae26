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

/** A folder with nothing but this `sm`, which goes first on the PATH of every session, and what keeps it there. */
export async function ownSm(folder: string): Promise<{ folder: string; path: string; shellStart: string }> {
  await privateFolder(folder)
  const path = join(folder, 'sm')
  // Hooks run it for every call of a tool: what it is made of is compiled once.
  const compiled = process.env['NODE_COMPILE_CACHE'] ?? join(folder, '..', 'compiled')
  await writeFile(
    path,
    `#!/bin/sh\nexport NODE_COMPILE_CACHE=${quoted(compiled)}\nexec ${quoted(process.execPath)} ${quoted(entry())} "$@"\n`,
  )
  await chmod(path, 0o700)
  // A login shell sets the PATH anew; bash reads this file after that.
  const shellStart = join(folder, '..', 'shell-start.sh')
  const keep = `case "$PATH:" in ${quoted(folder)}:*) ;; *) PATH=${quoted(folder)}:$PATH ;; esac`
  const theirs = 'if [ -n "$MUSTER_BASH_ENV" ] && [ -r "$MUSTER_BASH_ENV" ]; then . "$MUSTER_BASH_ENV"; fi'
  await writeFile(shellStart, `${theirs}\n${keep}\nexport PATH\n`, { mode: 0o600 })
  return { folder, path, shellStart }
}
