import type { AgentDefinition } from '../contract/agent-definition.ts'
import type { Config } from '../contract/config.ts'
import type { OutputLine, TokenDelta } from '../contract/formats/sse.ts'
import type { PriceBook } from '../core/ledger/price-book.ts'
import type { Budgets } from '../engine/budgets.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { ReadFacts } from '../ports/facts.ts'
import type { Models } from '../ports/model.ts'
import type { Vault } from '../ports/storage.ts'
import type { Tool } from '../ports/tools.ts'
import type { Slots } from './slots.ts'

/** Text on its way to people, with what must not be shown taken out. */
export type TextStream = { push(chunk: string): string; end(): string }

/** Tools that were opened for one run, and what of them could not be had. */
export type OpenedTools = {
  readonly tools: readonly Tool[]
  readonly problems: readonly { readonly server: string; readonly reason: string }[]
  close(): Promise<void>
}

/** What built-in agents are run with. */
export type RuntimeParts = {
  readonly engine: Engine
  readonly vault: Vault
  readonly budgets: Pick<Budgets, 'isBound' | 'isMoneyBound' | 'over'>
  readonly clock: Clock
  readonly ids: Ids
  /** A number from 0 up to 1. */
  readonly chance: () => number
  readonly config: () => Config
  /** The settings for work in a folder: what its project may decide is laid over them. */
  readonly settingsIn: (workspace: string, signal: AbortSignal) => Promise<Config>
  readonly agents: (workspace: string, signal: AbortSignal) => Promise<readonly AgentDefinition[]>
  readonly models: Models
  readonly prices: Pick<PriceBook, 'estimate' | 'knows'>
  /** How many runs may speak with a model at one time. */
  readonly slots: Slots
  /** The tools that reach outside; those of the runtime itself come beside them. */
  readonly tools: readonly Tool[]
  /** Opens tools that only this agent has, for one of its runs. */
  readonly openTools: (agent: AgentDefinition, workspace: string, signal: AbortSignal) => Promise<OpenedTools>
  readonly events: ReadFacts
  readonly onToken: (delta: TokenDelta) => void
  readonly onOutput: (line: OutputLine) => void
  readonly textStream: () => TextStream
  readonly onBug: (error: unknown, where: string) => void
}
