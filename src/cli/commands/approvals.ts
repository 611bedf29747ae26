import type { DataCommand } from '../command-module.ts'
import { renderApprovals } from '../render/approvals.ts'

export const approvals: DataCommand<'approvals'> = {
  run: async ({ session, all }, io) => {
    const client = await (await io.daemon()).client()
    const filter = { ...(session !== undefined && { session }), ...(all && { all }), limit: 1000 }
    return client.listApprovals(filter, { signal: io.signal })
  },
  render: renderApprovals,
}
