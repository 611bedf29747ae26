import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { LiveRun } from '../live-run.ts'
import type { RuntimeParts } from '../parts.ts'
import type { RunPlan } from '../perform-run.ts'
import type { Questions } from '../questions.ts'
import type { WorkNotes } from './work-notes.ts'

/** A run as the tools of the runtime see it. */
export type OwnRun = {
  readonly parts: RuntimeParts
  readonly run: LiveRun
  readonly depth: number
  readonly workspace: string
  readonly scopes: readonly (readonly string[])[]
  /** The agents as they were when the run began. */
  readonly agents: readonly AgentDefinition[]
  readonly questions: Questions
  readonly notes: WorkNotes
  /** The same for a run that works for this one. */
  readonly below: (child: LiveRun) => Pick<RunPlan, 'tools' | 'refusal'>
  /** Queues words for another main agent of the session. */
  readonly tell: (to: string, text: string) => Promise<void>
  /** Makes another main agent the one that people speak with; answers why not when it went in a circle. */
  readonly handOver: (to: string) => Promise<readonly string[] | undefined>
}
