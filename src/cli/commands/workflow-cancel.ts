import type { DataCommand } from '../command-module.ts'

export const workflowCancel: DataCommand<'workflow cancel'> = {
  run: async ({ id, reason }, io) =>
    (await (await io.daemon()).client()).cancelWorkflow({ id, ...(reason !== undefined && { reason }) }),
  render: ({ workflow_id, status }) => `${workflow_id} is ${status}`,
}
