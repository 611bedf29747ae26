import type { SpanId } from '../../contract/ids.ts'
import type { Checks } from '../../ports/checks.ts'
import { agentTools, type ToolSurroundings } from './agent-tools.ts'

/** Checks as the Bash of an agent that may change nothing: what a command writes is thrown away. */
export function shellChecks(given: ToolSurroundings): Checks {
  const bash = agentTools(given).find(({ name }) => name === 'Bash')
  if (!bash) throw new Error('there is no Bash to run checks with')
  return {
    async run(command, { folder, timeoutMs }, signal) {
      const startedAt = performance.now()
      const outcome = await bash.run(
        { command, timeout: Math.min(timeoutMs, longestMs) },
        {
          workspace: folder,
          writable: [],
          mayChange: false,
          seen: new Map(),
          seenBefore: [],
          signal,
          onOutput: () => {},
          call: { callId: 'check', spanId: `${'0'.repeat(15)}1` as SpanId },
        },
      )
      signal.throwIfAborted()
      return {
        passed: !outcome.isError,
        exitCode: outcome.exitCode,
        output: outcome.text,
        durationMs: Math.round(performance.now() - startedAt),
      }
    },
  }
}

/** What Bash takes at most. */
const longestMs = 600_000
