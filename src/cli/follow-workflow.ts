import type { Client } from '../client/client.ts'
import type { WorkflowDetail } from '../contract/workflow-routes.ts'
import type { Io } from './io.ts'
import { painter } from './render/paint.ts'
import { workflowLine } from './render/workflow-line.ts'

const lookMs = 250
const pageOf = 500

/** The news of a workflow as they come, one line each, until it has ended; answers how it ended. */
export async function* followWorkflow(
  client: Client,
  { workflow_id, session_id }: { readonly workflow_id: string; readonly session_id: string },
  io: Io,
): AsyncGenerator<string, WorkflowDetail> {
  const paint = painter(io.isColored)
  let after = 0
  let asked = ''
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
    const [waiting] = flow.approvals
    if (waiting && waiting.approval_id !== asked && flow.status === 'running') {
      asked = waiting.approval_id
      yield `${paint('yellow', '?')} it waits for you: sm approve ${session_id}, or sm reject ${session_id}\n`
    }
    if (events.length < pageOf) await io.sleep(lookMs)
  }
}
