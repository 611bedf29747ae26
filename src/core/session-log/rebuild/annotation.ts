import type { PhaseAnnotation } from '../../../contract/formats/std-001/phase-annotation.ts'
import { isIsoTime } from '../json/time.ts'
import { compact } from '../json/value.ts'
import { type Recorded, textOf } from './recorded.ts'

/** An annotation as a file has it. */
export function annotationFrom({ timestamp, payload }: Recorded<'session.annotated'>): PhaseAnnotation {
  return compact({
    annotation_id: payload.annotationId,
    phase_type: payload.phaseType,
    tool_call_range: { start_call_id: payload.startCallId, end_call_id: payload.endCallId },
    annotated_by: payload.annotatedBy,
    annotated_at: isIsoTime(payload.annotatedAt) ? payload.annotatedAt : timestamp,
    confidence: payload.confidence,
    description: payload.description === undefined ? undefined : textOf(payload.description),
    decisions: payload.decisions as PhaseAnnotation['decisions'],
    context_used: payload.contextUsed as PhaseAnnotation['context_used'],
  })
}
