import { type EventType, isObserved, type Observed } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Reactor } from '../engine/react.ts'
import { turnFacts } from './cli-turns.ts'

/** Tells those who wait for the end of a turn or of a session, or for what became of a message. */
export class FactWaits {
  readonly #waiting = new Map<SessionId, Set<(event: Observed) => void>>()

  readonly reactor: Reactor = {
    name: 'workflow-waits',
    types: new Set<EventType>(turnFacts),
    startsAtEnd: true,
    saved: 'seldom',
    react: async (event) => {
      if (isObserved(event)) for (const tell of this.#waiting.get(event.sessionId) ?? []) tell(event)
    },
  }

  /** Calls back with each such fact of a session until it is disposed of. */
  listen(sessionId: SessionId, tell: (event: Observed) => void): Disposable {
    const known = this.#waiting.get(sessionId) ?? new Set()
    this.#waiting.set(sessionId, known.add(tell))
    return {
      [Symbol.dispose]: () => {
        known.delete(tell)
        if (known.size === 0) this.#waiting.delete(sessionId)
      },
    }
  }
}
