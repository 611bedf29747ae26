/** What the client sends: the part of the web's fetch it needs. */
export type Sent = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** What the client reads of an answer; the web's own Response is one. */
export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

/** A fetch: the browser's own, or one that knows a unix socket. */
export type Request = (url: string, sent: Sent) => Promise<Answer>

/** How the client reaches the daemon, and time, which it has none of itself. */
export type Transport = {
  /** Like `http://127.0.0.1:4100`; empty in a page that the daemon served. */
  readonly base: string
  readonly request: Request
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly token?: string
}

/** The headers of every request. */
export function headersOf({ token }: Transport, wire: number): Record<string, string> {
  return {
    accept: 'application/json',
    'muster-wire': String(wire),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
}
