import { AppError } from '../../contract/errors.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Observer } from '../../engine/observer.ts'
import { takeOver } from '../../engine/sessions/adopt.ts'
import { linesOf, transcriptOf, writtenTranscript } from '../transcripts.ts'
import { type SessionKind, titleOf } from './session-kind.ts'
import { explainSeen, type TerminalDeps, terminalSession } from './terminal-session.ts'

/** An agent program that somebody started outside of Muster: it is looked at and can be adopted, never told anything. */
export function observedSession(deps: TerminalDeps & { readonly observer: Observer }): SessionKind {
  const { directory, engine, host, observer, clock } = deps
  const refuse = async (row: SessionRow): Promise<never> => {
    throw onlyObserved(row)
  }
  return {
    checkParent(row) {
      throw onlyObserved(row)
    },
    update: refuse,
    writer: refuse,
    complete: refuse,
    send: refuse,
    interrupt: refuse,
    kill: refuse,
    killAgent: ({ row }) => refuse(row),
    resume: refuse,
    attach: refuse,
    async adopt({ sessionId, shortId }, { parent, by, environment }, signal) {
      const { parts, sessions } = await host.open()
      const state = await engine.known(sessionId)
      if (!state?.managed)
        throw new AppError('conflict', `${shortId} is only a record; there is nothing to adopt`)
      const wanted = { state, parent, by, environment }
      await observer.without(sessionId, () => takeOver(parts, wanted, signal))
      const adopted = engine.session(sessionId)
      if (adopted) sessions.follow(adopted)
    },
    explain: async (row) => explainSeen(row, directory, clock),
    async output(row, lines) {
      const { entries } = await transcriptOf(deps, { ...(await writtenTranscript(deps, row)), limit: lines })
      return { lines: linesOf(entries, lines), is_alive: true }
    },
    transcript: async (row, limit) => transcriptOf(deps, { ...(await writtenTranscript(deps, row)), limit }),
    async reread() {},
    async decide() {
      throw new AppError('conflict', 'what an agent outside Muster asks is answered in its own terminal')
    },
  }
}

/** A session that was imported, or reported from elsewhere: nothing of it runs here, though its children may. */
export function recordedSession(deps: TerminalDeps): SessionKind {
  const refuse = async (row: SessionRow): Promise<never> => {
    throw new AppError('conflict', `${titleOf(row)} is only a record; nothing of it is running here`)
  }
  return {
    ...terminalSession(deps),
    resume: refuse,
    update: refuse,
    writer: refuse,
    complete: refuse,
    send: refuse,
    interrupt: refuse,
    killAgent: ({ row }) => refuse(row),
    explain: refuse,
    async reread() {},
    async decide() {
      throw new AppError('conflict', 'its session is only a record; nobody is waiting for this answer')
    },
  }
}

const onlyObserved = (row: SessionRow): AppError =>
  new AppError(
    'conflict',
    `${titleOf(row)} runs outside Muster, which only watches it; quit it there, then run: sm adopt ${row.shortId}`,
  )
