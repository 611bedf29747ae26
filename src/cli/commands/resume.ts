import type { DataCommand } from '../command-module.ts'
import { titleOf } from '../render/session-line.ts'

const startsInMs = 60_000

export const resume: DataCommand<'resume'> = {
  run: async ({ session }, io) => {
    const client = await (await io.daemon()).client()
    return client.resumeSession({ id: session }, { signal: io.signal, timeoutMs: startsInMs })
  },
  render: (session) => `Resumed ${titleOf(session)} in tmux session ${session.tmux_session ?? 'unknown'}`,
}
