import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { LiveStatus } from '../contract/status-phrases.ts'
import type { LoopMode } from '../contract/values.ts'
import type { Denial } from '../core/delegation/gate-call.ts'
import type { Root } from '../engine/sessions/drafts.ts'
import type { Model, ModelMessage, ModelPiece, ModelTurn } from '../ports/model.ts'
import type { FileChange, SeenBefore, SeenFile, Tool } from '../ports/tools.ts'
import type { AskDeps, Asked } from './ask-model.ts'

/** One run of an agent, with everything that is fixed when it begins. */
export type AgentRun = {
  readonly root: Root
  readonly agent: AgentDefinition
  readonly mode: LoopMode
  readonly depth: number
  /** What its task may change, and that of the run it works for; none means everything. */
  readonly scopes: readonly (readonly string[])[]
  readonly models: readonly [Model, ...Model[]]
  readonly maxIters: number
  readonly workspace: string
  readonly tools: ReadonlyMap<string, Tool>
  /** The agents that a call may name, as they were when the run began. */
  readonly agents: ReadonlyMap<string, AgentDefinition>
  /** The conversation so far; it grows as the run goes on. */
  readonly messages: ModelMessage[]
  /** How many of the messages are kept already. */
  readonly kept?: number
  /** How many turns it had before it was cut off. */
  readonly turns?: number
  readonly seen: Map<string, SeenFile>
  /** What it read and wrote before it was cut off. */
  readonly seenBefore: readonly SeenBefore[]
  readonly signal: AbortSignal
}

/** Takes what a call prints while it runs; nothing after its end. */
export type CallOutput = { readonly push: (text: string) => void; readonly end: () => void }

/** What the loop needs of the world. */
export type RunDeps = AskDeps & {
  /** What was said to the agent since the last step. */
  readonly takeMessages: () => Promise<readonly string[]>
  readonly onPiece: (piece: ModelPiece) => void
  readonly onStatus: (status: LiveStatus) => void
  readonly output: (tool: string) => CallOutput
  readonly onChanges: (changes: readonly FileChange[]) => void
  /** Resolves when all that was recorded is on disk. */
  readonly durable: () => Promise<void>
  readonly onTurn: () => void
  /** What an answer used, also one that only makes the conversation shorter. */
  readonly onUsed: (asked: Asked) => void
  /** Why the run may not go on: a budget is used up. */
  readonly spent: () => Promise<string | undefined>
  /** Why what it said in the end cannot be taken: it is told, and goes on. */
  readonly refuse?: ((text: string) => string | undefined) | undefined
  /** Why a call that the gates let through is refused all the same: a rule, or the person who was asked. */
  readonly refusal: (call: {
    readonly callId: string
    readonly tool: string
    readonly input: unknown
  }) => Promise<Denial | undefined>
  /** Most characters of one result that a model is told. */
  readonly resultChars: number
  /** From how many tokens on a conversation with this model is made shorter. */
  readonly compactAt: (model: Model) => number
}

/** How a run ended; giving up is a failure. */
export type RunEnd =
  | { readonly status: 'completed'; readonly text: string; readonly output?: unknown }
  | {
      readonly status: 'failed'
      readonly reason: string
      /** It used up what it may use. */
      readonly isSpent?: true
    }

/** What a model said in a turn, without its thinking and its calls. */
export const wordsOf = ({ parts }: Pick<ModelTurn, 'parts'>): string =>
  parts
    .filter((part) => part.kind === 'text')
    .map((part) => part.text)
    .join('')
