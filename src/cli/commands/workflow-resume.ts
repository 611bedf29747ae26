import type { DataCommand } from '../command-module.ts'

export const workflowResume: DataCommand<'workflow resume'> = {
  run: async ({ id }, io) => (await (await io.daemon()).client()).resumeWorkflow({ id }),
  render: ({ workflow_id, status }) => `${workflow_id} is ${status}`,
}
