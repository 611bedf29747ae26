import * as z from 'zod'
import { AgentSession } from '../std-001/session.ts'
import { messagePayloads } from './message-payloads.ts'
import { MultiAgentSession, std008Version } from './session.ts'

/** The JSON Schema of what Muster writes: a multi-agent or a single-agent session, and the message payloads by type. */
export function toJsonSchema(): Record<string, unknown> {
  const session = z.toJSONSchema(z.union([MultiAgentSession, AgentSession]))
  const payloads = z.toJSONSchema(z.strictObject(messagePayloads))
  const { $defs: sessionDefs, $schema, ...body } = session
  return {
    $schema,
    $id: `urn:muster:std-008:${std008Version}`,
    title: `STD-008 session file, version ${std008Version}`,
    version: std008Version,
    ...body,
    $defs: { ...payloads.$defs, ...sessionDefs, MessagePayloads: withoutDefs(payloads) },
  }
}

function withoutDefs(schema: Record<string, unknown>): Record<string, unknown> {
  const { $defs: _defs, $schema: _dialect, ...rest } = schema
  return rest
}
