import type { PhaseAnnotation } from '../../../contract/formats/std-001/phase-annotation.ts'
import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import { automaticGroups, coveredCalls } from '../phase-groups.ts'
import { indexSession, type Owner } from '../session-index.ts'

/** Up to this many calls may go without annotations; beyond it nobody can follow a session without phases. */
const unannotatedLimit = 20

/** Annotations for the calls that have none, by what the calls are for, when there are too many such calls. */
export function autoAnnotations(session: AgentSession, annotatedAt: string): PhaseAnnotation[] {
  const given = session.phase_annotations ?? []
  const bare = indexSession(session).owners.map((owner) => uncovered(owner, given))
  const total = bare.reduce((sum, runs) => sum + runs.flat().length, 0)
  if (total <= unannotatedLimit) return []
  const groups = bare.flatMap((runs) => runs.flatMap(automaticGroups))
  const taken = new Set(given.map((annotation) => annotation.annotation_id))
  return groups.map(({ phase, calls }, i) => ({
    annotation_id: freeId(i + 1, taken),
    phase_type: phase,
    tool_call_range: {
      start_call_id: calls[0]?.call_id ?? '',
      end_call_id: calls.at(-1)?.call_id ?? '',
    },
    annotated_by: 'auto',
    annotated_at: annotatedAt,
    confidence: 'low',
  }))
}

/** The stretches of an owner's calls that no annotation covers. */
function uncovered({ calls, callAt }: Owner, annotations: readonly PhaseAnnotation[]) {
  const covered = new Set(annotations.flatMap((annotation) => coveredCalls(annotation, calls, callAt)))
  const runs: (typeof calls)[number][][] = [[]]
  for (const call of calls) {
    if (covered.has(call)) runs.push([])
    else runs.at(-1)?.push(call)
  }
  return runs.filter((run) => run.length > 0)
}

function freeId(n: number, taken: ReadonlySet<string>): string {
  const id = `auto-${String(n).padStart(3, '0')}`
  return taken.has(id) ? `auto-phase-${String(n).padStart(3, '0')}` : id
}
