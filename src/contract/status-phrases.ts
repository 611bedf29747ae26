import type * as z from 'zod'
import type { Activity } from './values.ts'

type Status = z.infer<typeof Activity>

/** The live status of a run and the words people read for it. */
export type LiveStatus = { readonly status: Status; readonly detail: string }

/** The one table of phrases: every surface says the same of the same phase. */
export const statusOf = {
  loading: (model: string): LiveStatus => ({ status: 'model_loading', detail: `Asking ${model}` }),
  thinking: (): LiveStatus => ({ status: 'thinking', detail: 'Thinking' }),
  thought: (): LiveStatus => ({ status: 'thinking', detail: 'Thought' }),
  unanswered: (): LiveStatus => ({ status: 'thinking', detail: 'No answer' }),
  calling: (tool: string): LiveStatus => ({ status: 'calling_tool', detail: `Calling ${tool}` }),
  printing: (tool: string, line: string): LiveStatus => ({
    status: 'calling_tool',
    detail: `Calling ${tool}: ${line}`,
  }),
  called: (tool: string): LiveStatus => ({ status: 'calling_tool', detail: `Called ${tool}` }),
  failed: (tool: string): LiveStatus => ({ status: 'calling_tool', detail: `${tool} failed` }),
  denied: (tool: string, reason: string): LiveStatus => ({
    status: 'calling_tool',
    detail: `${tool} denied: ${reason}`,
  }),
  delegating: (agent: string): LiveStatus => ({ status: 'working', detail: `Waiting for ${agent}` }),
  compacting: (): LiveStatus => ({ status: 'working', detail: 'Compacting the context' }),
  waiting: (what: string): LiveStatus => ({ status: 'idle', detail: `Waiting for ${what}` }),
  idle: (): LiveStatus => ({ status: 'idle', detail: 'Idle' }),
} as const
