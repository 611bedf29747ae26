import type { Usage } from './script.ts'

/** The wire protocols that are spoken. */
export type Protocol = 'anthropic' | 'responses' | 'chat' | 'gemini'

/** One server-sent event. */
export type Frame = {
  readonly event?: string
  readonly data: unknown
  /** A piece of the answer itself; a slow stream waits after each. */
  readonly isPiece: boolean
}

/** What a protocol can say of an answer's tokens: Gemini's has no word for what was written to the cache. */
export function sentUsage(protocol: Protocol, usage: Usage): Usage {
  if (protocol !== 'gemini') return usage
  return { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 }
}
