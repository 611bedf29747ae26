import { once } from 'node:events'
import { createWriteStream, promises as fs } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import type { Archive } from '../../ports/files.ts'
import { privateFolder } from './durable-files.ts'
import { openPlain } from './foreign-files.ts'

/** Keeps transcripts in a folder, line by line, each line redacted before it is written. */
export function folderArchive(root: () => string, redact: (line: string) => string): Archive {
  return {
    async keep(name, paths, signal) {
      let [files, bytes] = [0, 0]
      const folder = join(root(), name)
      for (const path of paths) {
        const from = await openPlain(path)
        if (!from) continue
        await privateFolder(folder)
        bytes += await copy(from, join(folder, basename(path)), { redact, signal })
        files += 1
      }
      return files === 0 ? undefined : { path: folder, files, bytes }
    },
  }
}

async function copy(
  from: fs.FileHandle,
  to: string,
  { redact, signal }: { redact: (line: string) => string; signal: AbortSignal },
): Promise<number> {
  const temporary = `${to}.new`
  const out = createWriteStream(temporary, { mode: 0o600 })
  let bytes = 0
  for await (const line of createInterface({ input: from.createReadStream({ signal }) })) {
    const text = `${redact(line)}\n`
    bytes += Buffer.byteLength(text)
    if (!out.write(text)) await once(out, 'drain', { signal })
  }
  out.end()
  await finished(out)
  await fs.rename(temporary, to)
  return bytes
}
