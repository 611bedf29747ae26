import * as z from 'zod'
import { agentCliNames } from '../agent-clis.ts'

/** A name that people choose for an agent type or a preset; it has no dot, so dotted keys stay unambiguous. */
export const GivenName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'a name has 1 to 64 letters, digits, - or _, and starts with a letter or digit',
  )

/** The coding agent that a session runs. */
export const AgentCliName = z.enum(agentCliNames)
export type AgentCliName = z.infer<typeof AgentCliName>
