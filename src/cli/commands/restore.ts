import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderRestored } from '../render/restored.ts'

const longestMs = 300_000

export const restore: DataCommand<'restore'> = {
  run: async ({ 'dry-run': isDry }, io) => {
    const client = await (await io.daemon()).client()
    return client.restoreSessions(isDry ? { dry_run: true } : {}, { signal: io.signal, timeoutMs: longestMs })
  },
  render: renderRestored,
  exitCode: ({ sessions }) =>
    sessions.every(({ result }) => result === 'running' || result === 'restored')
      ? 0
      : errorCodes.failed.exit,
}
