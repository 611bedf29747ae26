import type { DataCommand } from '../command-module.ts'
import { renderWorkflows } from '../render/workflow.ts'

export const workflowList: DataCommand<'workflow list'> = {
  run: async ({ limit }, io) =>
    (await (await io.daemon()).client()).listWorkflows({ ...(limit !== undefined && { limit }) }),
  render: renderWorkflows,
}
