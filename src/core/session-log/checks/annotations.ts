import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { Report } from '../report.ts'
import type { SessionIndex } from '../session-index.ts'

/** Both ends of an annotation are calls of the file, of the session or of any sub-session. */
export function checkAnnotations(session: AgentSession, index: SessionIndex, report: Report): void {
  const annotations = session.phase_annotations ?? []
  if (annotations.length === 0) return
  const known = new Set(index.owners.flatMap((owner) => [...owner.callAt.keys()]))
  annotations.forEach(({ tool_call_range: range }, i) => {
    const path = ['phase_annotations', i, 'tool_call_range']
    for (const end of ['start_call_id', 'end_call_id'] as const)
      if (!known.has(range[end])) report('annotation_range', [...path, end], `there is no call ${range[end]}`)
    const start = index.main.callAt.get(range.start_call_id)
    const end = index.main.callAt.get(range.end_call_id)
    if (start !== undefined && end !== undefined && start > end)
      report('annotation_reversed', path, `${range.start_call_id} stands after ${range.end_call_id}`)
  })
}
