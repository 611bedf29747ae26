import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError } from '../../contract/errors.ts'
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

async function readJsonFile(file: string, signal: AbortSignal): Promise<unknown> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new AppError('not_found', `${file} does not exist; check the path`)
    if (error.code === 'EACCES') throw new AppError('denied', `${file} cannot be read by this user`)
    throw error
  })
  try {
    const stat = await handle.stat()
    if (stat.isDirectory()) throw new AppError('invalid', `${file} is a folder; name a session file`)
    if (stat.size > maxBytes)
      throw new AppError(
        'too_large',
        `${file} has ${Math.round(stat.size / 1e6)} MB; at most ${Math.round(maxBytes / 1e6)} MB can be read`,
      )
    const text = await handle.readFile({ encoding: 'utf8', signal } as { encoding: 'utf8' })
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid')
      throw new AppError('invalid', `${file}: ${error.message}`, { details: error.details })
    throw error
  } finally {
    await handle.close()
  }
}
