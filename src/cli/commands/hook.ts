import type { DataCommand } from '../command-module.ts'
import { readHookPayload } from '../read-hook-payload.ts'

const noAnswer = 'Muster did not answer, so this tool was not run. It may be tried again.'
/** A CLI takes this exit code for a refusal; every other failure lets the tool run. */
const refused = 2

/** Hooks that decide whether a tool runs: for them no answer is a refusal. */
const gates = new Set(['gate', 'PreToolUse', 'BeforeTool'])

/** Reports a hook and answers it. It never starts a daemon, and without one only a gate says no. */
export const hook: DataCommand<'hook'> = {
  async run({ cli, event }, io) {
    const at = io.now()
    const gate = gates.has(event)
    try {
      const client = await (await io.daemon()).running()
      const payload = await readHookPayload(io.signal)
      if (client === undefined) throw new Error('the daemon does not run')
      return await client.runHook(
        { cli: cli as 'claude', at, payload: { hook_event_name: event, ...payload } },
        { signal: io.signal, timeoutMs: 24 * 60 * 60 * 1000 },
      )
    } catch (error) {
      io.signal.throwIfAborted()
      if (!gate) return { body: '', exit_code: 0 }
      io.say(`${noAnswer} (${error instanceof Error ? error.message : String(error)})`)
      return { body: '', exit_code: refused }
    }
  },
  render: ({ body }) => body,
  exitCode: ({ exit_code }) => exit_code,
}
