import type { AgentCliName } from '../../contract/config/names.ts'
import type { SignalSource } from '../../contract/signal.ts'

/** Which source of each CLI is its record; the others are signs only, so that nothing is counted twice. */
export const recordOf: Readonly<Record<AgentCliName, SignalSource | undefined>> = {
  claude: 'transcript',
  codex: 'transcript',
  gemini: 'transcript',
  pi: 'transcript',
  opencode: 'hook',
  custom: undefined,
}
