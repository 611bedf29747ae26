import { expect } from 'vitest'
import type { AgentEvent } from '../../src/contract/event.ts'
import { AgentSession } from '../../src/contract/session-file/agent-session.ts'
import { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { type ExportOptions, sessionFromEvents } from '../../src/session-file/export-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { LiveSession, verdictOn } from './std-008-live.ts'

/** The file of some events: valid, without a warning, and strictly in the format. */
export function fileOf(events: readonly AgentEvent[], options: Partial<ExportOptions> = {}) {
  const file = sessionFromEvents(events, { sequence: 3, ...options })
  expect(validateSession(file.document, { filename: file.filename })).toEqual({
    valid: true,
    errors: [],
    warnings: [],
  })
  const schema = file.kind === 'std-008' ? MultiAgentSession : AgentSession
  expect(schema.safeParse(file.document).error).toBeUndefined()
  return { ...file, document: file.document as MultiAgentSession }
}

/** A developer with a task. */
export const developer = (taskId: string, agentType = 'developer') => ({
  agentId: `dev-${taskId}`,
  agentType,
  task: { taskId, description: `do ${taskId}` },
})
/** A reviewer with a task of its own. */
export const reviewer = {
  agentId: 'rev',
  agentType: 'reviewer',
  task: { taskId: 'check', description: 'check' },
}

/** Two developers, the second reviewed twice. */
export function collaboration() {
  const live = new LiveSession({ agent: { agentId: 'boss', agentType: 'architect' } })
  live.call(live.main, { id: 'tool-1', tool: 'Read', params: { file_path: 'a.ts' } })
  live.delegate(live.main, { id: 'task-a', agent: developer('A'), calls: ['Read', 'Write'] })
  live.delegate(live.main, { id: 'task-b', tool: 'Agent', agent: developer('B'), calls: ['Edit'] })
  live.delegate(live.main, {
    id: 'look-1',
    agent: reviewer,
    calls: ['Read'],
    output: verdictOn('B', 'changes_requested', 'r1'),
  })
  live.delegate(live.main, {
    id: 'task-c',
    tool: 'delegate_to_agent',
    agent: developer('B'),
    calls: ['Edit'],
  })
  live.delegate(live.main, {
    id: 'look-2',
    agent: reviewer,
    calls: ['Bash'],
    output: verdictOn('B', 'approved', 'r2'),
  })
  return live
}
