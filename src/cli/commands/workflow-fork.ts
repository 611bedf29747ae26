import type { DataCommand } from '../command-module.ts'

export const workflowFork: DataCommand<'workflow fork'> = {
  run: async ({ id, before }, io) =>
    (await (await io.daemon()).client()).forkWorkflow({ id, ...(before !== undefined && { before }) }),
  render: ({ workflow_id }) => `${workflow_id} is at work; look: sm workflow show ${workflow_id}`,
}
