import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderProgress } from '../render/progress.ts'

export const progress: DataCommand<'progress'> = {
  run: ({ session, watch }, io) => {
    const id = sessionMeant(session, io)
    const ask = async () => {
      const client = await (await io.daemon()).client()
      return () => client.getProgress({ id }, { signal: io.signal })
    }
    if (watch === undefined) return ask().then((look) => look())
    return (async function* () {
      const look = await ask()
      for (let seen = await look(); ; seen = await look()) {
        yield seen
        if (seen.is_complete) return
        // Never a busy loop, also for `--watch 0`.
        await io.sleep(Math.max(200, watch * 1000))
      }
    })()
  },
  render: renderProgress,
  isRedrawn: ({ watch }) => watch !== undefined,
}
