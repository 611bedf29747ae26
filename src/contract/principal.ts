import type { By } from './event.ts'
import type { SessionId } from './ids.ts'

/** Who is asking, as the daemon proved it from a token. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'operator'; readonly channel: 'cli' | 'browser' | 'api' }
  | { readonly kind: 'session'; readonly sessionId: SessionId }

/** Whoever something is done for: the name that is shown, and who that is as the daemon proved it. */
export type Asker = { readonly name: string; readonly by: By }

/** The daemon itself, for what nobody asked of it. */
export const muster: Asker = { name: 'muster', by: { kind: 'daemon' } }

/** What every handler is given besides its input. */
export type CallContext = { readonly principal: Principal; readonly signal: AbortSignal }
