import { AppError, errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderRestored } from '../render/restored.ts'

const longestMs = 300_000

export const restore: DataCommand<'restore'> = {
  run: async ({ 'dry-run': isDry }, io) => {
    const daemon = await io.daemon()
    const client = isDry ? await daemon.running() : await daemon.client()
    // Its start would bring sessions back, which is just what was not asked for.
    if (client === undefined)
      throw new AppError(
        'unavailable',
        'the daemon does not run, and its start restores; start it with: sm up',
      )
    return client.restoreSessions(isDry ? { dry_run: true } : {}, { signal: io.signal, timeoutMs: longestMs })
  },
  render: renderRestored,
  exitCode: ({ sessions }) =>
    sessions.every(({ result }) => result === 'running' || result === 'restored')
      ? 0
      : errorCodes.failed.exit,
}
