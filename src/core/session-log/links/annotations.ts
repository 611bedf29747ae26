import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { at, root } from '../json/pointer.ts'
import type { RepairLog } from '../repair/log.ts'
import { callIds } from '../session-index.ts'

/** Sets aside annotations over calls that are not in the file. */
export function mendAnnotations(session: AgentSession | MultiAgentSession, log: RepairLog): void {
  const annotations = session.phase_annotations
  if (!annotations || annotations.length === 0) return
  const known = callIds(session)
  const isKnown = ({ tool_call_range: range }: (typeof annotations)[number]) =>
    known.has(range.start_call_id) && known.has(range.end_call_id)
  const lost = annotations.filter((annotation) => !isKnown(annotation))
  if (lost.length === 0) return
  annotations.forEach((annotation, i) => {
    if (!isKnown(annotation))
      log(at(at(root, 'phase_annotations'), i), 'set_aside', 'it covers calls that are not in the file')
  })
  session.phase_annotations = annotations.filter(isKnown)
  const record = session as Record<string, unknown>
  const before = record['original_phase_annotations']
  record['original_phase_annotations'] = [...(Array.isArray(before) ? before : []), ...lost]
}
