import { expect, test } from 'vitest'
import * as z from 'zod'
import { asker } from '../../test/support/asker.ts'
import { call, ownAgents, script } from '../../test/support/own-agents.ts'
import type { Tool } from '../ports/tools.ts'

const opened = (name: string, category: Tool['category']): Tool => ({
  name,
  description: name,
  category,
  input: z.looseObject({}),
  changes: async () => [],
  run: async () => ({ text: `${name} ran`, isError: false }),
})

/** Without a rule a person would be asked about each call of a server. */
const runtime = { approvals: [{ tool: '*', action: 'allow' }] }

test('[MUS-260] who plans starts nobody, reaches no server and writes nothing down for others', async () => {
  const m = await ownAgents({
    opened: [opened('mcp__db__drop', 'action'), opened('mcp__db__look', 'perception')],
    runtime,
  })
  const id = await m.open()
  const child = script(call('Write', { file_path: 'new.txt', content: 'x' }), { text: 'written' })
  const refused = [
    call('Task', { subagent_type: 'worker', prompt: child }),
    call('mcp__db__drop', {}),
    // That it only reads is the word of the server, and nobody has looked at it.
    call('mcp__db__look', {}),
    call('SendMessage', { to: 'coder', message: child }),
    call('Handoff', { to: 'coder', reason: 'yours', context: child }),
    call('Blackboard', { operation: 'put', id: 'port', content: 80 }),
    call('Bash', { command: 'touch new.txt' }),
  ]
  await m.say(id, script(call('EnterPlanMode', {}), ...refused, { text: 'I cannot.' }))
  await m.until('agent.completed')
  const denied = await m.until('tool.call.denied')
  expect(denied.map(({ payload }) => [payload.tool, payload.gate, payload.rule])).toEqual(
    ['Task', 'mcp__db__drop', 'mcp__db__look', 'SendMessage', 'Handoff', 'Blackboard', 'Bash'].map((tool) => [
      tool,
      'approval',
      'plan_mode',
    ]),
  )
  expect(await m.until('agent.spawned')).toHaveLength(1)
})

test('[MUS-260] who plans reads, asks and notes, and does the rest once the plan is approved', async () => {
  const m = await ownAgents({
    opened: [opened('mcp__db__drop', 'action'), opened('LSP', 'perception')],
    runtime,
  })
  m.put('a.txt', 'forty-two')
  const id = await m.open()
  await m.say(
    id,
    script(
      call('EnterPlanMode', {}),
      call('Read', { file_path: 'a.txt' }),
      call('Grep', { pattern: 'forty' }),
      call('Glob', { pattern: '*' }),
      call('LSP', {}),
      call('Blackboard', { operation: 'list' }),
      call('TaskCreate', { subject: 'look' }),
      call('TaskList', {}),
      call('ExitPlanMode', { plan: 'drop it' }),
      call('mcp__db__drop', {}),
      call('Task', { subagent_type: 'worker', prompt: script({ text: 'done' }) }),
      { text: 'ok' },
    ),
  )
  await m.until('approval.requested')
  await m.runtime.decide(m.state(id), m.state(id).asks?.[0] as never, {
    decision: { verdict: 'allow', scope: 'once' },
    by: asker('person'),
  })
  await m.until('agent.completed', 2)
  const types = (await m.events()).map(({ type }) => type)
  expect(types).not.toContain('tool.call.denied')
  expect(types).not.toContain('tool.call.failed')
  expect(types.filter((type) => type === 'tool.call.completed')).toHaveLength(11)
})
