import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { AppendResult } from '../../contract/event.ts'
import { fileProblem } from '../../contract/file-problem.ts'
import { foreignJson, isForeign } from '../../contract/formats/foreign-json.ts'
import type { Io } from '../io.ts'
import { count } from '../render/figures.ts'

const batchEvents = 500
const batchChars = 1024 * 1024

type Imported = CommandOutput<'journal import'>

type Line = { readonly number: number; readonly text: string }

/** Appends the events of a file in batches; the lines that are refused are named, and the rest is taken. */
export async function importJournal(file: string, io: Io): Promise<Imported> {
  // The file's digest makes the producer, so that the same file again adds nothing.
  const producer = `import:${await digestOf(file)}`
  const client = await (await io.daemon()).client()
  const imported: Imported = { appended: 0, duplicates: 0, rejected: [] }
  let n = 1
  for await (const lines of batchesOf(file)) {
    const results = await append(client, { producer, n, lines }, io.signal)
    for (const [i, result] of results.entries()) tally(imported, result, lines[i]?.number ?? 0)
    n += lines.length
    io.progress(`${count(n - 1)} events`)
  }
  return imported
}

type Batch = { readonly producer: string; readonly n: number; readonly lines: readonly Line[] }

async function append(client: Client, batch: Batch, signal: AbortSignal): Promise<readonly AppendResult[]> {
  const { results } = await client.appendEvents(
    {
      producer: { id: batch.producer, epoch: 0, n: batch.n },
      history: true,
      events: batch.lines.map(({ text }) => draftOf(text)),
    },
    { signal },
  )
  return results
}

function tally(imported: Imported, result: AppendResult, line: number): void {
  if (result.status === 'appended') imported.appended++
  else if (result.status === 'duplicate') imported.duplicates++
  else imported.rejected.push({ line, code: result.code, message: result.message })
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer)
  } catch (error) {
    throw fileProblem(error, file)
  }
  return hash.digest('hex').slice(0, 32)
}

/** The lines of a file in batches that fit a request; blank ones are passed over. */
async function* batchesOf(file: string): AsyncGenerator<readonly Line[]> {
  let lines: Line[] = []
  let chars = 0
  let number = 0
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++
    if (text.trim() === '') continue
    if (lines.length > 0 && (lines.length === batchEvents || chars + text.length > batchChars)) {
      yield lines
      lines = []
      chars = 0
    }
    lines.push({ number, text })
    chars += text.length
  }
  if (lines.length > 0) yield lines
}

/** What the journal gives an event when it takes it; the journal that takes it again gives its own. */
const givenAtAppend = ['by', 'seq', 'recordedAt', 'schemaVersion', 'producer', 'redacted']

/** An exported line as an event to be appended; a line that is no event is sent as it is, and refused by itself. */
function draftOf(line: string): unknown {
  const value = foreignJson(line)
  if (value === undefined) return line
  if (!isForeign(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !givenAtAppend.includes(name)))
}
