import type { PhaseAnnotation, PhaseType } from '../../contract/formats/std-001/phase-annotation.ts'
import { PhaseType as PhaseTypes } from '../../contract/formats/std-001/phase-annotation.ts'
import type { AgentSession } from '../../contract/formats/std-001/session.ts'
import type { ToolCall } from '../../contract/formats/std-001/tool-call.ts'
import type { ToolCategory } from '../../contract/values.ts'

/** Calls that belong to one phase, and who says so. */
export type PhaseGroup = {
  readonly phase: PhaseType
  readonly calls: readonly ToolCall[]
  readonly source: 'legacy' | 'annotation' | 'auto'
  readonly confidence: 'high' | 'medium' | 'low'
}

const phaseOf: Record<ToolCategory, PhaseType> = {
  planning: 'plan',
  perception: 'explore',
  action: 'execute',
  interaction: 'mixed',
  task_management: 'mixed',
}

/** The calls of a session by phase: as version 2 recorded them, else as annotated, else by what the calls are for. */
export function phaseGroups(session: AgentSession): PhaseGroup[] {
  const legacy = legacyGroups(session)
  if (legacy.length > 0) return legacy
  const annotated = annotatedGroups(session)
  return annotated.length > 0 ? annotated : automaticGroups(session.tool_calls)
}

/** Runs of calls that are for the same, with low confidence: nobody said so. */
export function automaticGroups(calls: readonly ToolCall[]): PhaseGroup[] {
  const groups: { phase: PhaseType; calls: ToolCall[] }[] = []
  for (const call of calls) {
    const phase = phaseOf[call.tool_category]
    const last = groups.at(-1)
    if (last?.phase === phase) last.calls.push(call)
    else groups.push({ phase, calls: [call] })
  }
  return groups.map((group) => ({ ...group, source: 'auto', confidence: 'low' }))
}

function legacyGroups({ phases = [], tool_calls }: AgentSession): PhaseGroup[] {
  const byId = new Map(tool_calls.map((call) => [call.call_id, call]))
  return phases.flatMap((phase) => {
    const calls = (phase.tool_call_ids ?? []).flatMap((id) => byId.get(id) ?? [])
    const type = PhaseTypes.safeParse(phase.phase_type)
    const group = { phase: type.data ?? 'unclassified', calls, source: 'legacy', confidence: 'high' } as const
    return calls.length > 0 ? [group] : []
  })
}

function annotatedGroups({ phase_annotations = [], tool_calls }: AgentSession): PhaseGroup[] {
  const at = new Map(tool_calls.map((call, i) => [call.call_id, i]))
  return phase_annotations.flatMap((annotation) => {
    const calls = coveredCalls(annotation, tool_calls, at)
    const { phase_type: phase, confidence } = annotation
    return calls.length > 0 ? [{ phase, calls, source: 'annotation' as const, confidence }] : []
  })
}

/** The calls of one owner that an annotation covers; an end that lies in another owner covers to the edge. */
export function coveredCalls(
  { tool_call_range: range }: PhaseAnnotation,
  calls: readonly ToolCall[],
  at: ReadonlyMap<string, number>,
): readonly ToolCall[] {
  const [start, end] = [at.get(range.start_call_id), at.get(range.end_call_id)]
  if (start === undefined && end === undefined) return []
  return calls.slice(start ?? 0, (end ?? calls.length - 1) + 1)
}
