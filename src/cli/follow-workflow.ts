import type { Client } from '../client/client.ts'
import type { WorkflowDetail } from '../contract/workflow-routes.ts'
import type { Io } from './io.ts'
import { oneLine } from './render/one-line.ts'
import { painter } from './render/paint.ts'
import { cut } from './render/text-width.ts'
import { workflowLine } from './render/workflow-line.ts'

const lookMs = 250
const pageOf = 500
const longestAsk = 200

/** The news of a workflow as they come, one line each, until it has ended; answers how it ended. */
export async function* followWorkflow(
  client: Client,
  { workflow_id, session_id }: { readonly workflow_id: string; readonly session_id: string },
  io: Io,
): AsyncGenerator<string, WorkflowDetail> {
  const paint = painter(io.isColored)
  let after = 0
  const asked = new Set<string>()
  for (;;) {
    const flow = await client.getWorkflow({ id: workflow_id }, { signal: io.signal })
    const { events } = await client.listEvents(
      { session: session_id, after, limit: pageOf },
      { signal: io.signal },
    )
    for (const event of events) {
      after = event.seq
      const line = workflowLine(event, paint)
      if (line !== undefined) yield `${line}\n`
    }
    if (flow.status !== 'running' && events.length === 0) return flow
    for (const { approval_id, session_id: id, name, action } of flow.approvals) {
      if (asked.has(approval_id) || flow.status !== 'running') continue
      asked.add(approval_id)
      const what = cut(oneLine(action), longestAsk)
      yield `${paint('yellow', '?')} ${name} asks: ${what}\n  sm approve ${id}    sm reject ${id}\n`
    }
    if (events.length < pageOf) await io.sleep(lookMs)
  }
}
