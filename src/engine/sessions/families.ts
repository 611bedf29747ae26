import type { SessionId } from '../../contract/ids.ts'
import type { Kin } from '../../ports/processes.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

const nobody: Kin = new Map()

/**
 * What sessions were seen to have started. Where nothing else holds a process that leaves its parents, its terminal and
 * its environment, it is known by this: it was seen before it did.
 */
export class Families {
  readonly #parts: Pick<Parts, 'processes' | 'terminal'>
  #kin = new Map<SessionId, Kin>()

  constructor(parts: Pick<Parts, 'processes' | 'terminal'>) {
    this.#parts = parts
  }

  /** Looks at each that is followed; what belongs to others is forgotten. */
  async look(followed: Iterable<{ readonly watch: SessionWatch }>, signal: AbortSignal): Promise<void> {
    const server = this.#parts.terminal.server()
    const open = Array.from(followed).flatMap(({ watch }) => {
      const { place, isGrouped } = watch.state()?.managed ?? {}
      // Pids of another run of the server may be those of strangers by now.
      if (isGrouped || place?.serverId !== server || place.pidStartedMs === undefined) return []
      return [{ id: watch.id, pid: place.pid, startedAtMs: place.pidStartedMs, known: this.of(watch.id) }]
    })
    const found = open.length === 0 ? [] : await this.#parts.processes.kin(open, signal)
    this.#kin = new Map(open.map(({ id }, i) => [id, found[i] ?? nobody]))
  }

  of(id: SessionId): Kin {
    return this.#kin.get(id) ?? nobody
  }
}
