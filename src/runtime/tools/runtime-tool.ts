import type * as z from 'zod'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { RunId, SpanId } from '../../contract/ids.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import type { LiveRun } from '../live-run.ts'
import type { RunPlan } from '../perform-run.ts'
import type { Questions } from '../questions.ts'
import type { RuntimeParts } from '../runtime-parts.ts'

/** A tool that changes no files: it speaks with people, agents or the record. */
export function runtimeTool<S extends z.ZodType<Readonly<Record<string, unknown>>>>(given: {
  readonly name: string
  readonly description: string
  readonly category: Tool['category']
  readonly input: S
  readonly isParallel?: true
  readonly run: (input: z.output<S>, context: ToolContext) => Promise<ToolOutcome>
}): Tool {
  const { run, ...rest } = given
  return {
    ...rest,
    changes: async () => [],
    run: (input, context) => run(input as z.output<S>, context),
  }
}

export const said = (text: string): ToolOutcome => ({ text, isError: false })
export const wrong = (text: string): ToolOutcome => ({ text, isError: true })

/** A run as the tools of the runtime see it. */
export type ToolRun = {
  readonly parts: RuntimeParts
  readonly run: LiveRun
  readonly depth: number
  readonly workspace: string
  readonly scopes: readonly (readonly string[])[]
  /** The agents as they were when the run began. */
  readonly agents: readonly AgentDefinition[]
  readonly questions: Questions
  readonly notes: WorkNotes
  /** The messages and rounds of the session. */
  readonly talk: () => Promise<Conversation>
  /** The same for a run that works for this one. */
  readonly below: (child: LiveRun) => Pick<RunPlan, 'tools' | 'refusal'>
  /** Queues words for another main agent of the session. */
  readonly tell: (to: string, text: string) => Promise<void>
  /** Makes another main agent the one that people speak with; answers why not when it went in a circle. */
  readonly handOver: (to: string) => Promise<readonly string[] | undefined>
}

/** A task that an agent noted for itself. */
export type NotedTask = {
  readonly id: string
  readonly subject: string
  /** The run that has it, and where. */
  runId: RunId
  spanId: SpanId
  status: 'pending' | 'in_progress' | 'completed' | 'deleted'
}

/** What an agent keeps in mind over its runs: its tasks, and whether it only plans for now. */
export class WorkNotes {
  readonly tasks: NotedTask[] = []
  isPlanning = false
}
