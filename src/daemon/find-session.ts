import { AppError } from '../contract/errors.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { IndexClient } from './index-client.ts'

/** The one session a word names: id, short id, name, or a unique beginning. Two are listed, never guessed. */
export async function findSession(index: IndexClient, word: string): Promise<SessionRow> {
  const found = await index.ask('findSessions', word, 10)
  const [first] = found
  if (!first)
    throw new AppError(
      'not_found',
      `no session "${word}"; sm all lists them, sm all --closed those that are over`,
    )
  if (found.length > 1)
    throw new AppError(
      'conflict',
      `"${word}" can mean ${found.length} sessions: ${found.map((row) => `${row.shortId}${row.name ? ` (${row.name})` : ''}`).join(', ')}; say more of it`,
    )
  return first
}
