/** Something that became of a session, for whoever is not in one. */
export type Notice = {
  /** The same however often it is sent: the id of the event behind it. */
  readonly id: string
  readonly event: string
  readonly session_id: string
  readonly name: string
  readonly parent_session_id: string | null
  readonly message: string
  readonly timestamp: string
  readonly seq: number
}

/** What became of one attempt: taken, to be tried again, or not wanted at all. */
export type Attempt =
  | { readonly kind: 'taken' }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs?: number }
  | { readonly kind: 'refused'; readonly why: string }

/** A channel that leads out of the machine; one call is one attempt, and never throws for what the other side does. */
export type Notifier = { send(notice: Notice, signal: AbortSignal): Promise<Attempt> }
