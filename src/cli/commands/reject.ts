import type { DataCommand } from '../command-module.ts'
import { renderDecision } from '../render/approvals.ts'

export const reject: DataCommand<'reject'> = {
  run: async ({ id, reason }, io) => {
    const client = await (await io.daemon()).client()
    return client.decideApproval(
      { id, verdict: 'deny', ...(reason !== undefined && { reason }) },
      { signal: io.signal },
    )
  },
  render: renderDecision,
}
