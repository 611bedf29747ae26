import { once } from 'node:events'
import { createReadStream, createWriteStream, promises as fs } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import type { Archive } from '../../ports/files.ts'
import { privateFolder } from './durable-files.ts'

/** Keeps transcripts in a folder, line by line, each line redacted before it is written. */
export function folderArchive(root: () => string, redact: (line: string) => string): Archive {
  return {
    async keep(name, paths, signal) {
      const found = await existing(paths)
      if (found.length === 0) return undefined
      const folder = await privateFolder(join(root(), name))
      let bytes = 0
      for (const path of found) bytes += await copy(path, join(folder, basename(path)), { redact, signal })
      return { path: folder, files: found.length, bytes }
    },
  }
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const there = await Promise.all(
    paths.map((path) =>
      fs.stat(path).then(
        (stat) => stat.isFile(),
        () => false,
      ),
    ),
  )
  return paths.filter((_, i) => there[i])
}

async function copy(
  from: string,
  to: string,
  { redact, signal }: { redact: (line: string) => string; signal: AbortSignal },
): Promise<number> {
  const temporary = `${to}.new`
  const out = createWriteStream(temporary, { mode: 0o600 })
  let bytes = 0
  for await (const line of createInterface({ input: createReadStream(from, { signal }) })) {
    const text = `${redact(line)}\n`
    bytes += Buffer.byteLength(text)
    if (!out.write(text)) await once(out, 'drain', { signal })
  }
  out.end()
  await finished(out)
  await fs.rename(temporary, to)
  return bytes
}
