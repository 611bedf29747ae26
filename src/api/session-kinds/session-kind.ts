import type { Decision } from '../../contract/decision.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Asker } from '../../contract/principal.ts'
import type { RouteOutput } from '../../contract/routes.ts'
import type { ExplanationView, MessageView } from '../../contract/session-views.ts'
import type { OpenApproval } from '../../core/approvals/open-approvals.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { AgentInside } from '../agents.ts'
import type { SessionWriter } from '../milestones.ts'
import type { Transcript } from '../transcripts.ts'

/** What a session is, as `session.started` says it; one that says nothing is only a record. */
export type SessionOrigin = NonNullable<PayloadOf<'session.started'>['origin']>

/** A decision on an approval, and who took it. */
export type Decided = { readonly decision: Decision; readonly by: Asker }

/**
 * What can be done to a session of one kind. Handlers check who may act and leave the rest to the kind; a kind refuses
 * what it cannot do, and says what to do instead.
 */
export type SessionKind = {
  /** Refuses children that this session cannot look after. */
  checkParent(row: SessionRow): void
  update(row: SessionRow, change: PayloadOf<'session.updated'>, by: Asker): Promise<void>
  /** How facts about it are written, and whether git may run in its folder. */
  writer(row: SessionRow, by: Asker): Promise<SessionWriter>
  /** Ends it with its own word for how. */
  complete(
    row: SessionRow,
    end: {
      readonly status: 'completed' | 'error' | 'abandoned'
      readonly by: Asker
      readonly message?: string | undefined
    },
  ): Promise<void>
  /** Queues a message, or answers the question that it waits on. */
  send(
    row: SessionRow,
    message: { readonly text: string; readonly mode: MessageView['mode']; readonly from: Asker },
  ): Promise<{ readonly messageId: string; readonly isAnswer: boolean }>
  interrupt(row: SessionRow, by: Asker): Promise<void>
  kill(
    row: SessionRow,
    how: { readonly force: boolean; readonly by: Asker; readonly reason: string | undefined },
  ): Promise<RouteOutput<'killSession'>>
  /** Ends an agent that works inside of it, and all that work for that one. */
  killAgent(
    agent: AgentInside,
    how: { readonly by: Asker; readonly reason: string | undefined },
  ): Promise<RouteOutput<'killSession'>>
  resume(row: SessionRow, by: Asker, signal: AbortSignal): Promise<void>
  adopt(
    row: SessionRow,
    wanted: {
      readonly parent: SessionId | undefined
      readonly by: Asker
      readonly environment: Readonly<Record<string, string>> | undefined
    },
    signal: AbortSignal,
  ): Promise<void>
  /** Why it is in the state that is shown. */
  explain(row: SessionRow): Promise<ExplanationView>
  output(row: SessionRow, lines: number, signal: AbortSignal): Promise<RouteOutput<'getOutput'>>
  transcript(row: SessionRow, limit: number): Promise<Transcript>
  attach(row: SessionRow): Promise<RouteOutput<'getAttach'>>
  /** Finds out what it asks now, where a daemon that has just been started may not know it yet. */
  reread(row: SessionRow): Promise<void>
  /** Takes a decision on something it asked, and does what was agreed to. */
  decide(state: Readonly<SessionState>, ask: OpenApproval, decided: Decided): Promise<void>
}

/** The kind of every origin. */
export type SessionKinds = Readonly<Record<SessionOrigin, SessionKind>>

/** The kind of a session; what has no origin was reported from outside and is a record like an imported one. */
export const kindOf = (kinds: SessionKinds, { origin }: Pick<SessionRow, 'origin'>): SessionKind =>
  kinds[(origin ?? 'imported') as SessionOrigin]

/** What people call a session. */
export const titleOf = ({ friendlyName, name, shortId }: SessionRow): string =>
  friendlyName ?? name ?? shortId
