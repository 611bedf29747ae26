import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

const usual = shared(() => standInClaude({ child_agents: { mode: 'manual' } }))
const call = (id: string) => ({ tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: id })
const stop = { hook_event_name: 'Stop', background_tasks: [], stop_hook_active: false }

test('[MUS-248] a prompt that waits in the queue of the CLI does not split the turn, and a call whose record is late has not failed', async () => {
  const c = await usual()
  const session = await c.spawn({ prompt: 'turn one' })
  await c.turn(session, { prompt: 'turn one', tokens: 101, isOpen: true })
  await c.write(session, { type: 'queue-operation', operation: 'enqueue', content: 'typed while busy' })
  await c.hook(session, { hook_event_name: 'UserPromptSubmit', prompt: 'typed while busy' })

  const tool = { type: 'tool_use', id: 'late', name: 'Bash', input: { command: 'make' } }
  await c.hook(session, { hook_event_name: 'PreToolUse', ...call('late') })
  await c.write(session, c.line({ id: 'msg_tool', tokens: 202, content: [tool], isOpen: true }))
  await c.hook(session, { hook_event_name: 'PostToolUse', ...call('late'), tool_response: {} })
  await c.write(session, c.line({ id: 'msg_end', tokens: 303 }))
  await c.hook(session, { ...stop, last_assistant_message: 'Done.' })
  const result = { type: 'tool_result', tool_use_id: 'late', content: 'said' }
  await c.write(session, { type: 'user', message: { role: 'user', content: [result] } })

  const runs = async () =>
    (await c.client.listRuns({ id: session.id })).runs.filter(({ task }) => task === 'turn one')
  const isWhole = ([found]: Awaited<ReturnType<typeof runs>>) =>
    found?.status === 'completed' && (found.tokens ?? 0) >= 606 && found.toolCompleted + found.toolFailed > 0
  const [run, ...others] = await eventually(runs, isWhole)
  expect(others).toEqual([])
  expect(run).toMatchObject({ status: 'completed', toolCompleted: 1, toolFailed: 0, tokens: 606 })
})

test('[MUS-250] a subagent of a CLI is a run below its turn, continues when the turn ends, and counts once', async () => {
  const c = await usual()
  const session = await c.spawn({ prompt: 'outer work' })
  await c.turn(session, { prompt: 'outer work', tokens: 1000, isOpen: true })
  const input = { description: 'sub', prompt: 'look', subagent_type: 'general-purpose' }
  const content = [{ type: 'tool_use', id: 'sub', name: 'Agent', input }]
  await c.write(session, c.line({ id: 'outer_2', tokens: 700, content, isOpen: true }))
  await c.write(session, {
    type: 'user',
    toolUseResult: { isAsync: true, status: 'async_launched', agentId: 'a1', description: 'sub' },
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'sub', content: 'launched' }] },
  })
  const record = await c.recordOf(session)
  const file = join(record.replace(/\.jsonl$/, ''), 'subagents', 'agent-a1.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  const inner = (id: string, tokens: number) =>
    appendFileSync(
      file,
      `${JSON.stringify({ ...c.line({ id, tokens }), isSidechain: true, agentId: 'a1' })}\n`,
    )
  inner('inner_1', 110)
  inner('inner_1', 110)
  await c.write(session, c.line({ id: 'outer_end', tokens: 2000 }))
  const background_tasks = [{ id: 'a1', type: 'subagent', status: 'running' }]
  await c.hook(session, { ...stop, background_tasks, last_assistant_message: 'It is still at work.' })

  const look = async () => {
    const { runs } = await c.client.listRuns({ id: session.id })
    const main = runs.find(({ task }) => task === 'outer work')
    return { main, sub: runs.find(({ kind }) => kind === 'subagent') }
  }
  const during = await eventually(look, ({ main, sub }) => main?.status === 'completed' && sub !== undefined)
  expect(during.sub).toMatchObject({ status: 'running', parentRunId: during.main?.runId })

  inner('inner_2', 220)
  const note =
    '<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<result>Found.</result>\n</task-notification>'
  const origin = { kind: 'task-notification' }
  await c.write(session, { type: 'user', origin, message: { role: 'user', content: note } })
  await c.hook(session, { hook_event_name: 'SubagentStop', agent_id: 'a1', agent_type: 'general-purpose' })
  const after = await eventually(
    look,
    ({ main, sub }) => sub?.status === 'completed' && (sub.tokens ?? 0) >= 330 && (main?.tokens ?? 0) >= 3700,
  )
  expect(after.sub).toMatchObject({ agentType: 'general-purpose', calls: 2, tokens: 330 })
  expect(after.main).toMatchObject({ calls: 3, tokens: 3700, toolCompleted: 1 })
  expect((await c.session(session)).tokens_used).toBe(4030)
})
