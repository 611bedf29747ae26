import {
  type AgentSession,
  type PhaseAnnotation,
  type PhaseType,
  PhaseType as PhaseTypes,
  type ToolCall,
} from '../contract/session-file/agent-session.ts'
import type { ToolCategory } from '../contract/values.ts'
import { indexSession, type Owner } from './session-walk.ts'

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
