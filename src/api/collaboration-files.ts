import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { Engine } from '../engine/engine.ts'
import type { Reactor } from '../engine/react.ts'
import type { Clock } from '../ports/clock.ts'
import type { DocumentFolder } from '../ports/files.ts'
import type { Index } from '../ports/index.ts'
import type { JournalReader } from '../ports/journal.ts'
import type { Blobs } from '../ports/storage.ts'
import { fileEvents } from '../session-file/collect.ts'
import { type SessionFile, sessionFileText } from '../session-file/export-session.ts'
import { exportSession, namesOf } from './session-files.ts'

type CollaborationFileDeps = {
  readonly engine: Pick<Engine, 'session' | 'sessions'>
  readonly clock: Clock
  readonly documents: DocumentFolder
  /** The session as the index has it, once that has taken all that is written. */
  readonly row: (sessionId: SessionId) => Promise<SessionRow | undefined>
  readonly file: (row: SessionRow) => Promise<SessionFile>
  /** The names that its file may have. */
  readonly names: (row: SessionRow) => Promise<readonly string[]>
  readonly onBug: (error: unknown, where: string) => void
}

const everyMs = 1000
/** A long file may take no more than this part of the time. */
const share = 10

/** Writes the session file of every workflow as it goes, and once more at its end; from then on it is left alone. */
export class CollaborationFiles {
  readonly reactor: Reactor
  readonly #deps: CollaborationFileDeps
  readonly #stopping = new AbortController()
  readonly #waiting = new Set<SessionId>()
  readonly #turns = new Map<SessionId, Promise<void>>()
  readonly #tookMs = new Map<SessionId, number>()
  /** The file of a session, whose name stays what it was when it was written first. */
  readonly #paths = new Map<SessionId, string>()
  /** Whether the file that is there was the last one. */
  readonly #isFinal = new Map<SessionId, boolean>()

  constructor(deps: CollaborationFileDeps) {
    this.#deps = deps
    this.reactor = {
      name: 'collaboration-files',
      types: fileEvents,
      saved: 'seldom',
      react: (event) => this.#react(event),
    }
  }

  /** What was not written before the last daemon ended is written now. */
  async start(): Promise<void> {
    await this.#deps.documents.prepare()
    for (const { sessionId, managed } of Array.from(this.#deps.engine.sessions()))
      if (managed?.origin === 'workflow') this.#soon(sessionId)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#turns.values())
  }

  /** Where the file of a workflow's session is, when there is one. */
  async pathOf(row: SessionRow): Promise<string | null> {
    const known = this.#paths.get(row.sessionId)
    if (known !== undefined) return known
    for (const name of await this.#deps.names(row)) {
      if (!(await this.#deps.documents.has(name))) continue
      const path = this.#deps.documents.pathOf(name)
      this.#paths.set(row.sessionId, path)
      return path
    }
    return null
  }

  async #react(event: AgentEvent): Promise<void> {
    const { engine } = this.#deps
    // The cursor may only pass an end that is in the file.
    if (event.type === 'session.completed' || event.type === 'session.failed') {
      await this.#deps.documents.prepare()
      await this.#write(event.sessionId)
    }
    for (let id: SessionId | undefined = event.sessionId; id !== undefined; ) {
      const state = engine.session(id)
      if (state?.managed?.origin === 'workflow') this.#soon(id)
      id = state?.parentSessionId
    }
  }

  #soon(sessionId: SessionId): void {
    if (this.#waiting.has(sessionId)) return
    this.#waiting.add(sessionId)
    const { clock, onBug } = this.#deps
    const waitMs = Math.max(everyMs, share * (this.#tookMs.get(sessionId) ?? 0))
    clock
      .sleep(waitMs, this.#stopping.signal)
      .then(() => {
        this.#waiting.delete(sessionId)
        return this.#write(sessionId)
      })
      .catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) onBug(error, `the file of ${sessionId}`)
      })
  }

  /** One at a time for a session: an older state must not come after a newer one. */
  async #write(sessionId: SessionId): Promise<void> {
    const own = (this.#turns.get(sessionId) ?? Promise.resolve())
      .catch(() => {})
      .then(() => this.#writeNow(sessionId))
    const turn = own.catch(() => {})
    this.#turns.set(sessionId, turn)
    await own.finally(() => this.#turns.get(sessionId) === turn && this.#turns.delete(sessionId))
  }

  async #writeNow(sessionId: SessionId): Promise<void> {
    const { row: find, file: make, clock, documents } = this.#deps
    const row = await find(sessionId)
    if (row?.origin !== 'workflow' || (await this.#isOver(row))) return
    const began = clock.monotonic()
    const file = await make(row)
    const isOver = file.document.status !== 'in_progress'
    // Before anything is handed out it is not known what kind of file it will be, and so what it is called.
    if (file.kind === 'std-001' && !isOver) return
    const path = this.#paths.get(sessionId) ?? documents.pathOf(file.filename)
    await documents.replace(path, sessionFileText(file))
    this.#paths.set(sessionId, path)
    this.#tookMs.set(sessionId, clock.monotonic() - began)
    this.#isFinal.set(sessionId, isOver)
  }

  async #isOver(row: SessionRow): Promise<boolean> {
    const known = this.#isFinal.get(row.sessionId)
    if (known !== undefined) return known
    const path = await this.pathOf(row)
    const isFinal = path !== null && (await isFinalFile(this.#deps.documents, path))
    this.#isFinal.set(row.sessionId, isFinal)
    return isFinal
  }
}

/** What cannot be read is written again. */
async function isFinalFile(documents: DocumentFolder, path: string): Promise<boolean> {
  try {
    const { status } = JSON.parse(await documents.read(path)) as { status?: unknown }
    return status === 'success' || status === 'failed'
  } catch {
    return false
  }
}

type CollaborationFileOptions = {
  readonly engine: Engine
  readonly journal: JournalReader
  readonly blobs: Pick<Blobs, 'get'>
  readonly index: Index
  readonly clock: Clock
  readonly caughtUp: () => Promise<void>
  readonly documents: DocumentFolder
  readonly onBug: (error: unknown, where: string) => void
}

/** The files of workflows, made from the journal and the index. */
export const openCollaborationFiles = (options: CollaborationFileOptions): CollaborationFiles => {
  const { index, caughtUp } = options
  return new CollaborationFiles({
    ...options,
    async row(id) {
      await caughtUp()
      return (await index.ask('findSessions', id, 1))[0]
    },
    file: (row) => exportSession(options, row),
    names: (row) => namesOf(index, row),
  })
}
