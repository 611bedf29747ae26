import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { checkAgents } from '../../core/agent-definitions/check-agents.ts'
import { findAgent } from '../../core/agent-definitions/find-agent.ts'
import { loadAgents } from './load-agents.ts'

const dir = fileURLToPath(new URL('../../../agents', import.meta.url))
const shipped = await loadAgents(
  { folders: [{ source: 'shipped', dir }], projectTrusted: false },
  new AbortController().signal,
)
const gates = ({ kind, tools, policy }: AgentDefinition) => ({ kind, tools: tools.toSorted(), ...policy })

test('[COL-1] the shipped agents load, and the check finds nothing', () => {
  expect(shipped.agents.map(({ name }) => name)).toEqual([
    'architect',
    'developer',
    'explore',
    'general-purpose',
    'reviewer',
  ])
  expect(checkAgents(shipped)).toEqual([])
})

test('[COL-10][COL-11] the architect reads, plans and delegates, and has no tool or policy that writes', () => {
  expect(gates(findAgent(shipped.agents, 'architect'))).toEqual({
    kind: 'main',
    tools: [
      'EnterPlanMode',
      'ExitPlanMode',
      'Glob',
      'Grep',
      'LSP',
      'Read',
      'Task',
      'TaskCreate',
      'TaskList',
      'TaskUpdate',
    ],
    allow: ['Finalize', 'Delegate'],
    delegateTargets: ['developer', 'reviewer'],
  })
})

test('[COL-14] the developer has exactly its six tools and may patch', () => {
  expect(gates(findAgent(shipped.agents, 'developer'))).toEqual({
    kind: 'subagent',
    tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
    allow: ['Patch'],
    delegateTargets: 'any',
  })
})

test('[COL-19] the reviewer reads and runs checks, and may not patch', () => {
  expect(gates(findAgent(shipped.agents, 'reviewer'))).toEqual({
    kind: 'subagent',
    tools: ['Bash', 'Glob', 'Grep', 'Read'],
    allow: [],
    delegateTargets: 'any',
  })
})

test('[MUS-154][SM-47] the types of the coordination document resolve, each with its model', () => {
  const models = ['Engineer', 'general-purpose', 'Architect', 'Explore'].map((type) => {
    const { name, model } = findAgent(shipped.agents, type)
    return [type, name, model]
  })
  expect(models).toEqual([
    ['Engineer', 'developer', 'sonnet'],
    ['general-purpose', 'general-purpose', 'sonnet'],
    ['Architect', 'architect', 'opus'],
    ['Explore', 'explore', 'haiku'],
  ])
})

test.each([
  [
    'architect',
    ['task_id', 'task_description', 'specs', 'reference_files', 'scope', 'testing_required', 'style_guide'],
  ],
  ['architect', ['review_scope', 'focus_areas', 'must_pass_tests', 'must_pass_type_check', 'custom_checks']],
  [
    'developer',
    ['task_id', 'status', 'files_created', 'files_modified', 'files_deleted', 'summary', 'notes', 'blockers'],
  ],
  [
    'reviewer',
    [
      'task_id',
      'verdict',
      'findings',
      'finding_id',
      'severity',
      'category',
      'file',
      'line',
      'description',
      'suggestion',
      'tests_passed',
      'type_check_passed',
      'summary',
    ],
  ],
])('[COL-1] the prompt of the %s names the fields it exchanges', (name, fields) => {
  const { prompt } = findAgent(shipped.agents, name)
  expect(fields.filter((field) => !prompt.includes(`"${field}"`))).toEqual([])
})
