import type * as z from 'zod'
import type { Activity } from '../../contract/values.ts'

type Status = z.infer<typeof Activity>

/** The live status of a run and the words people read for it. */
export type LiveStatus = { readonly status: Status; readonly detail: string }

/** The one table of phrases: every surface says the same of the same phase. */
export const statusOf = {
  loading: (model: string): LiveStatus => ({ status: 'model_loading', detail: `Asking ${model}` }),
  thinking: (): LiveStatus => ({ status: 'thinking', detail: 'Thinking' }),
  calling: (tool: string): LiveStatus => ({ status: 'calling_tool', detail: `Calling ${tool}` }),
  delegating: (agent: string): LiveStatus => ({ status: 'working', detail: `Waiting for ${agent}` }),
  compacting: (): LiveStatus => ({ status: 'working', detail: 'Compacting the context' }),
  idle: (): LiveStatus => ({ status: 'idle', detail: 'Idle' }),
} as const
