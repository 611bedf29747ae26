import * as z from 'zod'
import { Confidence, FileId, IsoTime } from './parts.ts'

export const PhaseType = z.enum([
  'understand',
  'explore',
  'plan',
  'execute',
  'verify',
  'mixed',
  'unclassified',
])
export type PhaseType = z.infer<typeof PhaseType>

/** A source an agent worked from. */
export const ContextReference = z
  .strictObject({
    type: z.enum([
      'claude_md',
      'rule',
      'standard',
      'skill',
      'spec',
      'file',
      'user_message',
      'tool_result',
      'capability',
    ]),
    source: z.string(),
    relevance: Confidence,
    summary: z.string().optional(),
    quoted_content: z.string().optional(),
    usage_mode: z.enum(['read', 'modified', 'read_then_modified']).optional(),
  })
  .meta({ id: 'ContextReference' })

/** A choice an agent made, with what it left. */
export const Decision = z
  .strictObject({
    decision_id: FileId,
    type: z.enum(['tool_selection', 'approach', 'error_handling', 'skip', 'retry']),
    description: z.string(),
    reasoning: z.string().optional(),
    alternatives_considered: z.array(z.string()).optional(),
  })
  .meta({ id: 'Decision' })

/** A phase laid over a range of calls afterwards; ranges may overlap and may span sub-sessions. */
export const PhaseAnnotation = z
  .strictObject({
    annotation_id: FileId,
    phase_type: PhaseType,
    tool_call_range: z.strictObject({ start_call_id: FileId, end_call_id: FileId }),
    annotated_by: z.enum(['agent', 'human', 'auto']),
    annotated_at: IsoTime,
    confidence: Confidence,
    description: z.string().optional(),
    decisions: z.array(Decision).optional(),
    context_used: z.array(ContextReference).optional(),
  })
  .meta({ id: 'PhaseAnnotation' })
export type PhaseAnnotation = z.infer<typeof PhaseAnnotation>
