import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { LiveStatus } from '../core/agent-loop/status-phrases.ts'
import type { Root } from '../engine/sessions/drafts.ts'
import type { Model, ModelMessage, ModelPiece } from '../ports/model.ts'
import type { SeenFile, Tool } from '../ports/tools.ts'
import type { AskDeps } from './ask-model.ts'

/** How an agent works: one tool at a time for a person, or on its own to the end. */
export type LoopMode = 'chat' | 'auto'

/** One run of an agent, with everything that is fixed when it begins. */
export type AgentRun = {
  readonly root: Root
  readonly agent: AgentDefinition
  readonly mode: LoopMode
  readonly depth: number
  readonly scope?: readonly string[]
  readonly models: readonly [Model, ...Model[]]
  readonly maxIters: number
  readonly workspace: string
  readonly tools: ReadonlyMap<string, Tool>
  /** The agents that a call may name, as they were when the run began. */
  readonly agents: ReadonlyMap<string, AgentDefinition>
  /** The conversation so far; it grows as the run goes on. */
  readonly messages: ModelMessage[]
  readonly seen: Map<string, SeenFile>
  readonly signal: AbortSignal
}

/** What the loop needs of the world. */
export type RunDeps = AskDeps & {
  /** What was said to the agent since the last step. */
  readonly takeMessages: () => readonly string[]
  readonly onPiece: (piece: ModelPiece) => void
  readonly onStatus: (status: LiveStatus) => Promise<void>
  readonly onOutput: (callId: string, text: string) => void
}

/** How a run ended; giving up is a failure. */
export type RunEnd =
  | { readonly status: 'completed'; readonly text: string; readonly packet?: unknown }
  | { readonly status: 'failed'; readonly reason: string }
