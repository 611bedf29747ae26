import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { fileProblem, neverEnds } from '../../contract/file-problem.ts'
import type { LogConversion, LogValidation } from '../../contract/offline.ts'
import { maxNesting, tooDeep } from '../../core/json/json-value.ts'
import { parseJsonText } from '../../core/json/parse-json-text.ts'
import { migrate, readSession } from '../../session-file/read-session.ts'
import { validateSession } from '../../session-file/validate.ts'

// JavaScript strings end at about half a billion characters.
const maxBytes = 400 * 1024 * 1024

/** The document of a session file that can be sent on: what nests too deep would overflow the stack of the sender. */
export async function logRead(file: string, signal: AbortSignal): Promise<unknown> {
  const document = await readJsonFile(file, signal)
  if (tooDeep(document))
    throw new AppError(
      'invalid',
      `${file}: nested deeper than ${maxNesting} levels; this is not a session file`,
    )
  return document
}

export async function logValidate(file: string, signal: AbortSignal): Promise<LogValidation> {
  return { file, ...validateSession(await readJsonFile(file, signal), { filename: basename(file) }) }
}

export async function logMigrate(file: string, signal: AbortSignal): Promise<LogConversion> {
  const { session, repairs } = migrate(await readJsonFile(file, signal), { filename: basename(file) })
  return { file, document: session, repairs: repairs.map(({ path, message }) => ({ path, message })) }
}

export async function logRepair(file: string, signal: AbortSignal): Promise<LogConversion> {
  const { session, repairs } = readSession(await readJsonFile(file, signal), { filename: basename(file) })
  return { file, document: session, repairs: repairs.map(({ path, message }) => ({ path, message })) }
}

/** One JSON object per line, as journals are exported and agent CLIs write their conversations. */
function isJsonLines(text: string, file: string): boolean {
  const lines = text
    .slice(0, 10 * 1024 * 1024)
    .split('\n')
    .filter((line) => line.trim() !== '')
  if (lines.length < 2) return file.endsWith('.jsonl')
  return lines.slice(0, 2).every(isObject)
}

function isObject(line: string): boolean {
  if (!/^\s*\{.*\}\s*$/.test(line)) return false
  try {
    return typeof JSON.parse(line) === 'object'
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

const jsonLines = new AppError(
  'invalid',
  'this is JSON Lines (one JSON object per line), and a session file is one JSON object; events that `sm journal export` wrote go in with `sm journal import`',
)

async function readJsonFile(file: string, signal: AbortSignal): Promise<unknown> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    throw fileProblem(error, file)
  })
  try {
    const stat = await handle.stat()
    if (stat.isDirectory()) throw new AppError('invalid', `${file} is a folder; name a session file`)
    if (stat.isCharacterDevice()) throw neverEnds(file)
    if (stat.size > maxBytes)
      throw new AppError(
        'too_large',
        `${file} has ${Math.round(stat.size / 1e6)} MB; at most ${Math.round(maxBytes / 1e6)} MB can be read`,
      )
    const text = await handle.readFile({ encoding: 'utf8', signal } as { encoding: 'utf8' })
    if (isJsonLines(text, file)) throw jsonLines
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid')
      throw new AppError('invalid', `${file}: ${error.message}`, { details: error.details })
    throw fileProblem(error, file)
  } finally {
    await handle.close()
  }
}
