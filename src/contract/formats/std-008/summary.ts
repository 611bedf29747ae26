import * as z from 'zod'
import { Count, Millis, Verdict } from '../../values.ts'
import { FileId } from '../std-001/parts.ts'
import { SessionSummary } from '../std-001/session.ts'

/** One agent's share of a session. */
export const AgentSummary = z
  .strictObject({
    agent_id: FileId,
    agent_type: z.string(),
    tool_calls_count: Count,
    duration_ms: Millis,
    status: z.enum(['completed', 'failed', 'in_progress']),
    original_agent_type: z.string().optional(),
  })
  .meta({ id: 'AgentSummary' })
export type AgentSummary = z.infer<typeof AgentSummary>

/** The figures of a collaboration. */
export const MultiAgentSessionSummary = z
  .strictObject({
    ...SessionSummary.shape,
    agents: z.strictObject({
      architect: AgentSummary,
      developers: z.array(AgentSummary),
      reviewer: AgentSummary.optional(),
      /** Every reviewer but the last, which is `reviewer`. */
      reviewers: z.array(AgentSummary).optional(),
      /** Architects beside the orchestrator, and participants that never ran. */
      others: z.array(AgentSummary).optional(),
    }),
    tasks: z.strictObject({ total: Count, completed: Count, failed: Count }),
    review_iterations: Count,
    final_verdict: z.enum(['approved', 'rejected']).optional(),
    /** The last verdict, where it is not a final one. */
    last_verdict: Verdict.optional(),
  })
  .meta({ id: 'MultiAgentSessionSummary' })
export type MultiAgentSessionSummary = z.infer<typeof MultiAgentSessionSummary>
