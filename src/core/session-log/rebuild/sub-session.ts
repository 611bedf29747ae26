import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { compact } from '../json/value.ts'
import { type EndEvent, endingOf } from './ending.ts'
import { identifierFrom } from './message.ts'
import { type Recorded, textOf } from './recorded.ts'

/** A sub-session as a file has it, without its calls. */
export function subSessionFrom(
  spawned: Recorded<'agent.spawned'>,
  ended: EndEvent | undefined,
): SubAgentSession {
  const { payload, timestamp } = spawned
  const output = ended && 'output' in ended.payload ? ended.payload.output : undefined
  return compact({
    sub_session_id: payload.foreignId || 'unknown',
    parent_session_id: payload.foreignParentId || 'unknown',
    agent: identifierFrom(payload),
    triggered_by_call_id: payload.triggeredByCallId || 'unknown',
    task: compact({
      task_id: payload.task?.taskId || 'unknown',
      description: textOf(payload.task?.description ?? payload.agentTask ?? ''),
      priority: payload.task?.priority ?? 'medium',
      dependencies: payload.task?.dependencies,
    }),
    started_at: timestamp,
    ...endingOf(ended),
    tool_calls: [],
    output: output as SubAgentSession['output'],
  })
}
