import { AppError } from '../../contract/errors.ts'
import type { TextCommand } from '../command-module.ts'
import { followWorkflow } from '../follow-workflow.ts'
import { renderWorkflow } from '../render/workflow.ts'

export const workflowRun: TextCommand<'workflow run'> = {
  text: async function* ({ script, args, cli, agents, tokens, usd, minutes, concurrency, yes, detach }, io) {
    const client = await (await io.daemon()).client()
    const begun = await client.startScript({
      script,
      project_root: io.cwd,
      args: args === undefined ? null : parsed(args),
      ...(cli !== undefined && { cli }),
      limits: {
        ...(agents !== undefined && { agents }),
        ...(tokens !== undefined && { tokens }),
        ...(usd !== undefined && { usd }),
        ...(minutes !== undefined && { minutes }),
        ...(concurrency !== undefined && { concurrency }),
      },
      ...(yes && { approved: true }),
    })
    const { workflow_id } = begun
    if (!detach) {
      const news = followWorkflow(client, begun, io)
      for (let next = await news.next(); !next.done; next = await news.next())
        if (!io.isJson) yield next.value
    }
    const flow = await client.getWorkflow({ id: workflow_id })
    const view = { width: io.width(), now: io.now(), color: io.isColored }
    yield `${io.isJson ? JSON.stringify(flow, null, 2) : renderWorkflow(flow, view)}\n`
    if (flow.status !== 'completed' && !detach)
      throw new AppError('failed', `${workflow_id} is ${flow.status}: ${flow.detail ?? ''}`)
  },
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError(
      'invalid',
      '--args is no JSON; quote it for the shell, as in --args \'{"folder":"src"}\'',
    )
  }
}
