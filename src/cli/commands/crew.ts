import { AppError } from '../../contract/errors.ts'
import type { TextCommand } from '../command-module.ts'
import { followWorkflow } from '../follow-workflow.ts'
import { parseBudget } from '../parse-budget.ts'
import { renderWorkflow } from '../render/workflow.ts'
import { textInput } from '../text-input.ts'

export const crew: TextCommand<'crew'> = {
  text: async function* ({ request, name, cli, model, budget, minutes, detach, ...more }, io) {
    const text = await textInput(request, undefined, io)
    if (text === undefined || text.trim() === '')
      throw new AppError('invalid', 'there is nothing to do; give a request, or - for standard input')
    const client = await (await io.daemon()).client()
    const amounts = parseBudget(budget)
    const limit = minutes === undefined ? amounts : { ...amounts, minutes }
    const begun = await client.startCrew({
      request: text,
      project_root: io.cwd,
      ...(name !== undefined && { crew: name }),
      ...(cli !== undefined && { cli }),
      ...(model !== undefined && { model }),
      ...(more['max-iterations'] !== undefined && { max_iterations: more['max-iterations'] }),
      ...(limit && { budget: limit }),
      ...(more['approve-plan'] && { approve_plan: true }),
    })
    const { workflow_id } = begun
    if (detach) {
      const flow = await client.getWorkflow({ id: workflow_id })
      yield io.isJson
        ? `${JSON.stringify(flow, null, 2)}\n`
        : `${workflow_id} is at work; look: sm workflow show ${workflow_id}\n`
      return
    }
    if (!io.isJson)
      io.say(`${workflow_id} is at work; it goes on when you leave: sm workflow show ${workflow_id}`)
    const news = followWorkflow(client, begun, io)
    let next = await news.next()
    for (; !next.done; next = await news.next()) if (!io.isJson) yield next.value
    const flow = next.value
    const view = { width: io.width(), now: io.now(), color: io.isColored }
    yield io.isJson ? `${JSON.stringify(flow, null, 2)}\n` : `\n${renderWorkflow(flow, view)}\n`
    const outcome = flow.report?.outcome ?? flow.status
    if (outcome !== 'approved' && outcome !== 'force_approved')
      throw new AppError('failed', `the work is not approved: ${outcome.replaceAll('_', ' ')}`)
  },
}
