import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../src/contract/event.ts'
import { type SessionId, shortId } from '../../src/contract/ids.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

test('[COL-53] [OBS-41] an agent program in a terminal is a sub-session under the name and with the task that it was given', async () => {
  const m = await standInClaude()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', m.work, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args])
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'Nothing yet')
  const asked = { request: 'Look around', project_root: m.work, crew: 'solo', cli: 'claude' }
  const { session_id, workflow_id } = await m.client.startCrew(asked)
  // Only what runs has a token to report with.
  const [launched] = await eventually(
    async () => (await m.events('session.launched')) as { sessionId: SessionId }[],
    (all) => all.length > 0,
  )
  const id = launched?.sessionId as SessionId
  const answer = '```json\n{ "status": "completed", "summary": "I looked." }\n```'
  const tools = [{ name: 'Read', input: { file_path: 'README.md' } }]
  await m.turn({ id, session_id: shortId(id) }, { prompt: 'Look around', tools, text: answer, tokens: 40 })
  await eventually(
    () => m.client.getWorkflow({ id: workflow_id }),
    ({ status }) => status !== 'running',
  )
  const turns = (await m.events('agent.completed')) as AgentEvent[]
  expect(turns.filter(({ sessionId }) => sessionId === id)).toMatchObject([
    {
      workflowId: workflow_id,
      phase: 'delegate',
      taskId: 'request',
      payload: {
        agentId: expect.any(String),
        tokens: 40,
        durationMs: expect.any(Number),
        resultSchema: 'reply:developer',
      },
    },
  ])
  const { document, filename } = await m.client.exportLog({ id: session_id })
  expect(validateSession(document, { filename })).toMatchObject({ valid: true, errors: [] })
  const { sub_sessions, tool_calls, messages } = document as MultiAgentSession
  expect(sub_sessions).toMatchObject([
    {
      agent: { agent_id: 'developer-1', agent_type: 'developer' },
      task: { task_id: 'request', priority: 'medium', dependencies: [] },
      status: 'success',
      tool_calls: [{ tool_name: 'Read' }],
      output: { task_id: 'request', status: 'completed', summary: 'I looked.' },
    },
  ])
  expect(tool_calls).toMatchObject([
    {
      call_id: sub_sessions[0]?.triggered_by_call_id,
      tool_name: 'Task',
      original_tool_name: 'workflow.agent',
    },
  ])
  expect(messages.map(({ message_type }) => message_type)).toEqual([
    'task_assignment',
    'acknowledgment',
    'task_completion',
  ])
  // By itself it is one agent with its calls, not a workflow with an agent below it.
  const alone = await m.client.exportLog({ id: shortId(id) })
  expect(alone.document).toMatchObject({ tool_calls: [{ tool_name: 'Read' }] })
})
