import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderReplay } from '../render/replay.ts'

export const replay: DataCommand<'replay'> = {
  run: async ({ run, from, model, prompt, 'run-tools': run_tools, inexact }, io) =>
    (await (await io.daemon()).client()).replayRun(
      { id: run, from, model, prompt, run_tools, inexact },
      { signal: io.signal },
    ),
  render: renderReplay,
  exitCode: ({ verdict }) => (verdict === 'different' ? errorCodes.failed.exit : 0),
}
