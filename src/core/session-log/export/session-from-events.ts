import { AppError } from '../../../contract/errors.ts'
import type { AgentEvent } from '../../../contract/event.ts'
import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SessionId } from '../../../contract/ids.ts'
import { sessionFileName } from '../filename.ts'
import { hasCollaboration, isMultiAgentSession } from '../multi-agent.ts'
import { readSession } from '../read-session.ts'
import { validateSession } from '../validate.ts'
import { collect } from './collect.ts'
import { importedDocument } from './imported-document.ts'
import { recordedDocument } from './recorded-document.ts'
import type { Resolve } from './resolve-blobs.ts'

export type ExportOptions = {
  /** The number of the file among those of its day. */
  readonly sequence: number
  /** The root of the tree; without it, the first session that no other one started. */
  readonly session?: SessionId
  /** Gives the text a blob reference stands for; without it, its preview stands in the file. */
  readonly resolve?: Resolve
}

export type SessionFile = {
  readonly document: AgentSession | MultiAgentSession
  readonly filename: string
  readonly kind: 'std-001' | 'std-008'
}

/** The session file of a session tree. It always passes the validator: a journal with holes is repaired like a file. */
export function sessionFromEvents(events: Iterable<AgentEvent>, options: ExportOptions): SessionFile {
  const found = collect(events, options)
  if (found.firstAt === '')
    throw new AppError('not_found', 'the journal has no events of this session; name one that it has')
  const imported = importedDocument(found)
  const built = imported ?? recordedDocument(found, options.sequence)
  const document = validateSession(built).valid ? built : readSession(built).session
  return {
    document,
    filename: filenameOf(document, { isImported: imported !== undefined, sequence: options.sequence }),
    kind: hasCollaboration(document) ? 'std-008' : 'std-001',
  }
}

/** The text of a session file; the same session gives the same bytes. */
export const sessionFileText = ({ document }: Pick<SessionFile, 'document'>): string =>
  `${JSON.stringify(document, null, 2)}\n`

type Naming = { readonly isImported: boolean; readonly sequence: number }

/** An imported session keeps its own name where that is one; else the file is named by the format. */
function filenameOf(document: AgentSession | MultiAgentSession, { isImported, sequence }: Naming): string {
  const isMulti = isMultiAgentSession(document)
  const own = `${document.session_id}.json`
  const isNamed = /^\d{4}-\d\d-\d\d-\d{3,}-[\p{L}\p{N}\p{M}-]{1,100}\.json$/u.test(own)
  if (isImported && isNamed && isMulti === isMultiAgentSession(own)) return own
  return sessionFileName({ createdAt: document.created_at, sequence, title: document.task_title, isMulti })
}
