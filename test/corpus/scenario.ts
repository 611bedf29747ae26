import type { Agent } from './agent.ts'
import type { Profile } from './profiles.ts'

/** A story that an agent goes through; it is judged at its probes. */
export type Scenario = {
  readonly name: string
  readonly profiles: readonly Profile[]
  readonly run: (agent: Agent) => void
}
