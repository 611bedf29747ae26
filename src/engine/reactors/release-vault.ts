import type { EventType } from '../../contract/event.ts'
import { endTypes } from '../../core/trace/span-endings.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Reactor } from '../react.ts'

/** When a run ends, its raw texts may go once their time is over. */
export const releaseVault = (vault: Vault): Reactor => ({
  name: 'release-vault',
  types: new Set<EventType>(endTypes),
  async react(event) {
    const at = Date.parse(event.recordedAt)
    await vault.release(event.runId, at)
    // How a session was started is kept under its own name, beyond any of its runs.
    if (event.type === 'session.completed' || event.type === 'session.failed')
      await vault.release(event.sessionId, at)
  },
})
