import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderExplanation } from '../render/explanation.ts'

export const explain: DataCommand<'explain'> = {
  run: async ({ session }, io) => {
    const id = sessionMeant(session, io)
    const client = await (await io.daemon()).client()
    return client.explainSession({ id }, { signal: io.signal })
  },
  render: renderExplanation,
}
