import { hash } from 'node:crypto'
import { AppError } from '../contract/errors.ts'
import { shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Principal } from '../contract/principal.ts'
import type { RouteOutput } from '../contract/routes.ts'
import { derivedIds } from '../core/session-log/derived-ids.ts'
import { eventsFromSession } from '../core/session-log/import/events-from-session.ts'
import { readSession } from '../core/session-log/read-session.ts'
import type { Engine } from '../engine/engine.ts'

const batchEvents = 5000

/** Reads a session file into the journal. Ids and numbers follow from the content: the same file again adds nothing. */
export async function importSession(
  { engine }: { engine: Engine },
  input: { document?: unknown; filename?: string | undefined },
  principal: Principal,
): Promise<RouteOutput<'importLog'>> {
  const { session, repairs } = readSession(input.document, { ...(input.filename && { filename: input.filename }) })
  const ids = derivedIds(hash('sha256', JSON.stringify(input.document), 'hex'), Date.parse(session.created_at))
  const drafts = eventsFromSession(session, ids)
  let added = 0
  for (let at = 0; at < drafts.length; at += batchEvents) {
    const results = await engine.propose({
      items: drafts.slice(at, at + batchEvents),
      principal,
      producer: { id: `import:${ids.session}`, epoch: 0, n: at + 1 },
    })
    const refused = results.find((result) => result.status === 'rejected')
    if (refused) throw new AppError('failed', `the file was read, but an event of it was refused: ${refused.message}`)
    added += results.filter((result) => result.status === 'appended').length
  }
  return { sessionId: ids.session, shortId: shortId(ids.session), events: added, repairs: [...repairs], duplicate: added === 0 }
}

export async function exportSession(_deps: unknown, row: SessionRow): Promise<RouteOutput<'exportLog'>> {
  throw new AppError('unavailable', row.sessionId)
}
