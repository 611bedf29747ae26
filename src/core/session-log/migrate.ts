import type { MultiAgentSession } from '../../contract/formats/std-008/session.ts'
import { asMultiAgent } from './multi-agent.ts'
import { readSession, type SessionKind } from './read-session.ts'
import type { Repair } from './repair/log.ts'

export type Migration = {
  readonly session: MultiAgentSession
  readonly repairs: readonly Repair[]
  readonly from: SessionKind
}

/** A session of any version in the present multi-agent shape, with everything that was done to it. */
export function migrate(json: unknown, options: { readonly filename?: string } = {}): Migration {
  const { session, repairs, kind } = readSession(json, options)
  return { session: asMultiAgent(session), repairs, from: kind }
}
