import type { EventType } from '../../contract/event.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Reactor } from '../react.ts'

const ends = new Set<EventType>([
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
  'session.completed',
  'session.failed',
])

/** When a run ends, its raw texts may go once their time is over. */
export const releaseVault = (vault: Vault): Reactor => ({
  name: 'release-vault',
  types: ends,
  react: (event) => vault.release(event.runId, Date.parse(event.recordedAt)),
})
