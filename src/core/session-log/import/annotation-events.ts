import type { Draft } from '../../../contract/event.ts'
import type { PhaseAnnotation } from '../../../contract/formats/std-001/phase-annotation.ts'
import type { ImportIds } from '../derived-ids.ts'
import { compact } from '../json/value.ts'
import { annotationFrom } from '../rebuild/annotation.ts'
import { draft, line, type Run, rawFor, recorded } from './drafting.ts'

type Place = { readonly run: Run; readonly index: number }

/** The event of one annotation. */
export function annotationEvent(annotation: PhaseAnnotation, { run, index }: Place, ids: ImportIds): Draft {
  const payload = {
    annotationId: line(annotation.annotation_id),
    phaseType: annotation.phase_type,
    startCallId: line(annotation.tool_call_range.start_call_id),
    endCallId: line(annotation.tool_call_range.end_call_id),
    annotatedBy: annotation.annotated_by,
    annotatedAt: line(annotation.annotated_at),
    confidence: annotation.confidence,
    ...compact({
      description: annotation.description,
      decisions: annotation.decisions,
      contextUsed: annotation.context_used,
    }),
  }
  const bare = recorded('session.annotated', annotation.annotated_at, payload)
  const raw = rawFor(annotation, annotationFrom(bare), { index })
  const event = recorded('session.annotated', annotation.annotated_at, { ...payload, raw })
  return draft(event, { run, key: `annotation/${index}` }, ids)
}
