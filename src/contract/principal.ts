import type { SessionId } from './ids.ts'

/** Who is asking, as the daemon proved it from a token. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'operator'; readonly channel: 'cli' | 'browser' | 'api' }
  | { readonly kind: 'session'; readonly sessionId: SessionId }

/** What every handler is given besides its input. */
export type CallContext = { readonly principal: Principal; readonly signal: AbortSignal }
