import type { DataCommand } from '../command-module.ts'
import { renderWorkflow } from '../render/workflow.ts'

export const workflowShow: DataCommand<'workflow show'> = {
  run: async ({ id }, io) => (await (await io.daemon()).client()).getWorkflow({ id }),
  render: renderWorkflow,
}
