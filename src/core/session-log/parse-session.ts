import type { AgentSession } from '../../contract/formats/std-001/session.ts'
import type { ValidationResult } from '../../contract/formats/std-008/issue.ts'
import type { MultiAgentSession } from '../../contract/formats/std-008/session.ts'
import { isRecord } from './json/value.ts'
import { validateAgentSession, validateMultiAgentSession } from './validate.ts'

/** A session, or what keeps a value from being one; unknown fields are kept. */
export type ParseResult<S> =
  | (ValidationResult & { readonly success: true; readonly session: S })
  | (ValidationResult & { readonly success: false })

/** Any JSON value as a session, as it stands and without repairs; content decides which format it is. */
export function parseSession(json: unknown): ParseResult<AgentSession | MultiAgentSession> {
  const isCollaboration = isRecord(json) && isRecord(json['collaboration'])
  return isCollaboration ? parseMultiAgentSession(json) : parseAgentSession(json)
}

export const parseMultiAgentSession = (json: unknown): ParseResult<MultiAgentSession> =>
  parsed<MultiAgentSession>(json, validateMultiAgentSession(json))

export const parseAgentSession = (json: unknown): ParseResult<AgentSession> =>
  parsed<AgentSession>(json, validateAgentSession(json))

const parsed = <S>(json: unknown, result: ValidationResult): ParseResult<S> =>
  result.valid ? { ...result, success: true, session: json as S } : { ...result, success: false }
