import { derivedIds } from '../../contract/derived-ids.ts'
import type { Draft } from '../../contract/event.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import type { ForeignSession } from '../../ports/agent-cli.ts'
import type { Ids } from '../../ports/ids.ts'
import { draftOf, type Root } from '../sessions/drafts.ts'

const titleChars = 200

/** The session of a conversation: the same one however often it is found. */
export const observedId = ({ cli, foreignId }: ForeignSession, again: number): SessionId =>
  derivedIds(`observed ${cli} ${foreignId} ${again}`, 0).session

/** What a person called the conversation, or its CLI did. */
const titleOf = ({ title }: ForeignSession): string | undefined =>
  title?.replaceAll(/\s+/g, ' ').trim().slice(0, titleChars) || undefined

type Known = {
  readonly id: SessionId
  readonly state: Readonly<SessionState> | undefined
  readonly ids: Ids
}

/** The facts of a session that is seen for the first time, or again after its end; none for one that is known. */
export function begun(found: ForeignSession, { id, state, ids }: Known): Draft[] {
  if (state && !hasEnded(state)) return []
  const root: Root = {
    sessionId: id,
    traceId: state?.traceId ?? ids.trace(),
    runId: ids.run(),
    spanId: ids.span(),
    actor: 'muster',
  }
  if (state) return [draftOf(root, 'session.reopened', { by: 'muster', reason: 'its program runs again' })]
  const name = `${found.cli}-${shortId(id)}`
  return [
    draftOf(root, 'session.started', {
      name,
      origin: 'observed',
      cli: found.cli,
      workingDir: found.workingDir,
      foreignId: found.foreignId,
      depth: 0,
      agent: { agentId: name, agentType: found.cli },
    }),
  ]
}

/** What is new of a session that is known: what it is called, and where its record is. */
export function news(found: ForeignSession, state: Readonly<SessionState>): Draft[] {
  const { task, transcript } = state.managed ?? {}
  const title = titleOf(found)
  const change = {
    ...(title !== undefined && title !== task && { task: title }),
    ...(found.transcript !== undefined &&
      found.transcript !== transcript && { transcript: found.transcript }),
  }
  return Object.keys(change).length === 0
    ? []
    : [draftOf(rootOf(state), 'session.updated', { ...change, by: 'cli' })]
}

/** Where facts of an open session belong. */
export function rootOf(state: Readonly<SessionState>): Root {
  const span = [...state.open.values()].find(({ kind }) => kind === 'session')
  if (!span || !state.traceId) throw new Error(`session ${state.sessionId} is not open`)
  const { runId, spanId } = span
  return { sessionId: state.sessionId, traceId: state.traceId, runId, spanId, actor: 'muster' }
}

/** Its program is gone; whether its work was done nobody said. */
export const ended = (state: Readonly<SessionState>, isWanted: boolean): Draft =>
  draftOf(rootOf(state), 'session.completed', {
    outcome: 'cancelled',
    reason: isWanted
      ? `its program was left; go on with it by: sm adopt ${shortId(state.sessionId)}`
      : 'sessions outside of Muster are not looked at any more (sessions.observe)',
  })
