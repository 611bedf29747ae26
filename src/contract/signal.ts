import type * as z from 'zod'
import type { Billing, Tokens } from './values.ts'

/** Where an observation comes from, the most trusted first. */
export const signalSources = ['explicit', 'hook', 'transcript', 'process', 'pane'] as const
export type SignalSource = (typeof signalSources)[number]

/** One question of an agent and what it offers as answers. */
export type AskedQuestion = {
  readonly question: string
  readonly header?: string
  readonly options: readonly { readonly label: string; readonly description?: string }[]
  readonly isMany: boolean
}

/** How much of an allowance of the model's provider is used, and when it begins anew. */
export type RateLimit = { readonly name: string; readonly usedPercent?: number; readonly resetsAtMs?: number }

/** What a coding agent's CLI said or showed, in one vocabulary for all of them; facts are derived from these. */
type Observed =
  /** It started, resumed, cleared or compacted its conversation and takes prompts. */
  | {
      readonly kind: 'ready'
      readonly reason?: 'startup' | 'resume' | 'clear' | 'compact'
      readonly foreignId?: string
      readonly transcript?: string
      readonly model?: string
      readonly cwd?: string
      readonly version?: string
    }
  /** A prompt was taken and a turn begins; `task` is a note of the CLI to itself, not of a person. */
  | {
      readonly kind: 'prompt'
      readonly text?: string
      readonly promptId?: string
      readonly origin: 'person' | 'task'
    }
  /** A prompt was taken into the CLI's own queue while it works. */
  | { readonly kind: 'prompt-queued'; readonly text?: string }
  /** What a hook gave to a running turn stands in the conversation now. */
  | { readonly kind: 'injected'; readonly text: string }
  | { readonly kind: 'tool-start'; readonly callId: string; readonly tool: string; readonly input?: unknown }
  | {
      readonly kind: 'tool-end'
      readonly callId: string
      readonly tool?: string
      readonly ok: boolean
      readonly output?: unknown
      readonly error?: string
      readonly durationMs?: number
      readonly isInterrupt?: boolean
    }
  /** The agent said something; the last one of a turn is its answer. */
  | { readonly kind: 'text'; readonly text: string; readonly messageId?: string }
  /** Tokens of one model response; a later one with the same id replaces it. */
  | {
      readonly kind: 'usage'
      readonly responseId: string
      readonly model: string
      readonly usage: z.infer<typeof Tokens>
      readonly finishReason?: string
    }
  /** All that one conversation used by the CLI's own count, of each model: calls are in it that its record does not have. */
  | {
      readonly kind: 'totals'
      readonly foreignId: string
      readonly models: Readonly<Record<string, z.infer<typeof Tokens>>>
    }
  /** It waits for a person: a permission, a question, a plan to approve. */
  | {
      readonly kind: 'asking'
      readonly ask: 'permission' | 'question' | 'plan'
      readonly tool?: string
      readonly callId?: string
      readonly input?: unknown
      readonly questions?: readonly AskedQuestion[]
      readonly detail?: string
      /** The terminal shows no dialog while a hook waits for the answer; a screen without one says nothing of it. */
      readonly isUnseen?: boolean
    }
  /** What it asked was decided from outside, or is not asked any more. */
  | {
      readonly kind: 'answered'
      readonly ask: 'permission' | 'question' | 'plan'
      readonly tool?: string
      readonly callId?: string
      readonly input?: unknown
    }
  /** The turn is over; `background` counts shells and agents that still work. */
  | { readonly kind: 'turn-end'; readonly text?: string; readonly background: number }
  | {
      readonly kind: 'turn-failed'
      readonly error: string
      readonly status?: number
      /** Set when an allowance is used up; the time only when the CLI told it. */
      readonly limit?: { readonly resetsAtMs?: number }
    }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'retrying'; readonly attempt?: number; readonly of?: number; readonly error?: string }
  /** The CLI itself says that it waits for a prompt. */
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'subagent-start'
      readonly agentId: string
      readonly agentType: string
      readonly description?: string
      readonly transcript?: string
      readonly callId?: string
      /** It works on when the turn that started it has ended. */
      readonly isBackground?: boolean
    }
  | {
      readonly kind: 'subagent-end'
      readonly agentId: string
      readonly agentType?: string
      readonly text?: string
      readonly transcript?: string
      /** Nothing when it ended by itself. */
      readonly how?: 'failed' | 'cancelled'
    }
  /** It has begun to compact its conversation, which takes a request to the model. */
  | { readonly kind: 'compacting'; readonly trigger?: 'auto' | 'manual' }
  | {
      readonly kind: 'compacted'
      readonly trigger?: 'auto' | 'manual'
      readonly before?: number
      readonly after?: number
      readonly summary?: string
    }
  /** What the CLI's own status line knows. */
  | {
      readonly kind: 'meter'
      readonly contextPercent?: number
      readonly costUsd?: number
      /** Only when it is certain: a plan has allowances, and only a key is without. */
      readonly billing?: Billing
      readonly limits?: readonly RateLimit[]
      readonly model?: string
    }
  | { readonly kind: 'screen'; readonly reading: ScreenReading }
  /** The CLI says that its session is over. */
  | { readonly kind: 'gone'; readonly reason?: string }
  /** The process in the pane ended. */
  | { readonly kind: 'exited'; readonly code?: number; readonly signal?: string }

/** An observation with its source and the moment it was made. */
export type Signal = Observed & {
  readonly source: SignalSource
  /** Milliseconds since 1970 at the place where it was made, not where it arrived. */
  readonly at: number
  /** The CLI's own id of the subagent it is about; nothing for the session itself. */
  readonly agent?: string
}
export type SignalKind = Signal['kind']
export type SignalOf<K extends SignalKind> = Extract<Signal, { kind: K }>

/** What stands in the box where prompts are typed. */
export type Composer =
  | { readonly state: 'empty' }
  | { readonly state: 'text'; readonly text: string }
  /** No box is on the screen: a dialog, a menu or a dead pane. */
  | { readonly state: 'none' }

/** A dialog on the screen. */
export type Dialog = {
  readonly kind: 'permission' | 'question' | 'plan' | 'trust' | 'login' | 'bypass' | 'notice' | 'menu'
  readonly title: string
  /** What stands above the choices, as far as it belongs to the dialog: the command, the change, the question. */
  readonly body?: string
  readonly options: readonly string[]
  readonly selected?: number
  /** Whether several of the choices may be taken. */
  readonly isMany?: boolean
  /** What its questions are called, where it asks more than the one that is shown. */
  readonly headings?: readonly string[]
}

/** What a screen shows, read by the rules for one version of one CLI. */
export type ScreenReading = {
  readonly composer: Composer
  readonly isWorking: boolean
  /** It counted a key that interrupts, and asks for it again. */
  readonly isArmed?: true
  readonly dialog?: Dialog
  readonly retry?: { readonly attempt: number; readonly of?: number }
  readonly limit?: { readonly text: string }
  readonly error?: string
  /** Prompts that wait in the CLI's own queue, when the screen shows them. */
  readonly queued?: number
}
