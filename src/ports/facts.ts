import type { EventType, Fact, Observed } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'

/** The facts of a session of some types, oldest first: what is decided on is read from these, never from reports. */
export type ReadFacts = (sessionId: SessionId, types: readonly EventType[]) => AsyncIterable<Fact>

/** The same of an agent program's session, whose turns only its own hooks and record can show. */
export type ReadObserved = (sessionId: SessionId, types: readonly EventType[]) => AsyncIterable<Observed>
