import type * as z from 'zod'
import { AgentSession } from '../std-001/session.ts'
import { loosen } from './loosen.ts'
import { messagePayloads } from './message-payloads.ts'
import { MultiAgentSession } from './session.ts'

/** A single-agent session as it is read: documented fields checked, unknown ones kept. */
export const LooseAgentSession = loosen(AgentSession)
/** A multi-agent session as it is read. */
export const LooseMultiAgentSession = loosen(MultiAgentSession)

/** A message's payload as it is read, by message type. */
export const loosePayloads = Object.fromEntries(
  Object.entries(messagePayloads).map(([type, schema]) => [type, loosen(schema as z.ZodType)]),
) as Record<keyof typeof messagePayloads, z.ZodType>
