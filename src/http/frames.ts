import type { AgentEvent } from '../contract/event.ts'
import {
  type FrameContext,
  lastFrameOf,
  partsOf,
  projectRootOf,
  runtimeFrames,
} from '../contract/formats/sse.ts'
import type { SessionId } from '../contract/ids.ts'
import type { StoredEvent } from '../ports/journal.ts'

/** What else a frame needs to know of its event; it may have to be looked up. */
export type ContextOf = (event: AgentEvent) => FrameContext | Promise<FrameContext>

type Frames = readonly string[]

const none: Frames = []
const named = /^[\w.]{1,100}$/

/** How one stream shows events. */
export type Projection = {
  /** How many frames the event makes, whatever is filtered; part numbers must not depend on filters. */
  parts(stored: StoredEvent): number
  /** What a frame that stands for all up to an event says as its own `seq`. */
  seqOf(seq: number): number
  /** The frames of the event; none when the filter leaves it out. */
  frames(stored: StoredEvent): Frames | Promise<Frames>
}

/** Canonical events as they stand in the journal. */
export function canonicalProjection(wants: (event: AgentEvent) => boolean): Projection {
  return {
    parts: () => 1,
    seqOf: (seq) => seq,
    frames: (stored) => (isEvent(stored.event) && wants(stored.event) ? canonicalFrames(stored) : none),
  }
}

/** The runtime's names; the filter is told the project, because most events do not know theirs. */
export function runtimeProjection(
  wants: (event: AgentEvent, projectRoot: string | undefined) => boolean,
  made: RuntimeFrames,
): Projection {
  return {
    parts: (stored) => partsOf(stored.event),
    seqOf: lastFrameOf,
    frames: async (stored) => {
      if (!isEvent(stored.event)) return none
      const { projectRoot, frames } = await made.of(stored)
      return wants(stored.event, projectRoot) ? frames : none
    },
  }
}

/** A stream without the events of sessions that its client may not see; their places in the order stay. */
export function onlySeen(
  projection: Projection,
  isSeen: (sessionId: SessionId) => boolean | Promise<boolean>,
): Projection {
  return {
    parts: (stored) => projection.parts(stored),
    seqOf: (seq) => projection.seqOf(seq),
    frames: async (stored) => ((await isSeen(stored.event.sessionId)) ? projection.frames(stored) : none),
  }
}

// Keyed by the stored event, so that every client shares one copy and it goes when the event does.
const canonical = new WeakMap<StoredEvent, Frames>()

function canonicalFrames(stored: StoredEvent): Frames {
  const known = canonical.get(stored)
  if (known) return known
  // A raw line break inside a data line would end the frame early.
  const line = /[\r\n]/.test(stored.line) ? stored.line.replaceAll(/[\r\n]+/g, ' ') : stored.line
  const made = [`id: ${stored.seq}.0\nevent: ${stored.event.type}\ndata: ${line}\n\n`]
  canonical.set(stored, made)
  return made
}

type Made = { readonly projectRoot: string | undefined; readonly frames: Frames }

/** Runtime frames, made once for all clients. */
export class RuntimeFrames {
  readonly #contextOf: ContextOf
  readonly #made = new WeakMap<StoredEvent, Promise<Made>>()

  constructor(contextOf: ContextOf = () => ({})) {
    this.#contextOf = contextOf
  }

  of(stored: StoredEvent): Promise<Made> {
    const known = this.#made.get(stored)
    if (known) return known
    const made = this.#make(stored)
    this.#made.set(stored, made)
    // A failed look-up must not be remembered: the next client may find it answered.
    made.catch(() => this.#made.delete(stored))
    return made
  }

  async #make(stored: StoredEvent): Promise<Made> {
    const context = await this.#contextOf(stored.event)
    const frames = runtimeFrames(stored.event, context).map(
      ({ type, data }, part) =>
        `id: ${stored.seq}.${part}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
    )
    return { projectRoot: projectRootOf(stored.event, context), frames }
  }
}

// A tombstone has a seq and nothing else; its place in the order stays, its frame is gone.
const isEvent = (event: Partial<AgentEvent>): event is AgentEvent =>
  typeof event.type === 'string' && named.test(event.type)
