import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Asking = {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** What stands between two records. */
  readonly separator: '\0' | '\n'
  readonly signal: AbortSignal
}

/** How a program ended; nothing when it is not there. */
export type Ending = { readonly code: number | null; readonly stderr: string } | undefined

const mostRecordBytes = 1 << 20
const mostErrorChars = 4000

/**
 * What a program prints, record by record as it comes; one that is too long comes cut. Whoever stops listening ends
 * the program.
 */
export async function* streamProgram(
  command: string,
  args: readonly string[],
  { folder, env, separator, signal }: Asking,
): AsyncGenerator<readonly string[], Ending> {
  const child = spawn(command, [...args], { cwd: folder, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close').then(
    () => true,
    () => false,
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < mostErrorChars) stderr += text
  })
  const end = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', end, { once: true })
  try {
    yield* recordsOf(child.stdout, separator.charCodeAt(0))
    const isThere = await closed
    signal.throwIfAborted()
    return isThere ? { code: child.exitCode, stderr } : undefined
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

async function* recordsOf(
  chunks: AsyncIterable<Buffer>,
  separator: number,
): AsyncGenerator<readonly string[]> {
  let held: Buffer[] = []
  let heldBytes = 0
  const add = (part: Buffer): void => {
    const kept = part.subarray(0, mostRecordBytes - heldBytes)
    held.push(kept)
    heldBytes += kept.length
  }
  const take = (): string => {
    const record = Buffer.concat(held).toString('utf8')
    held = []
    heldBytes = 0
    return record
  }
  for await (const chunk of chunks) {
    const records: string[] = []
    let begin = 0
    for (let end = chunk.indexOf(separator); end !== -1; end = chunk.indexOf(separator, begin)) {
      add(chunk.subarray(begin, end))
      records.push(take())
      begin = end + 1
    }
    add(chunk.subarray(begin))
    yield records
  }
  if (heldBytes > 0) yield [take()]
}
