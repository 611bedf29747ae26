import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { checkAgents } from '../../core/definitions/check-agents.ts'
import { findAgent } from '../../core/definitions/find-definition.ts'
import { gateCall } from '../../core/delegation/gate-call.ts'
import { loadAgents } from './agent-files.ts'

const dir = fileURLToPath(new URL('../../../agents', import.meta.url))
const shipped = await loadAgents({ folders: [{ source: 'shipped', dir }] }, new AbortController().signal)
const gates = ({ kind, tools, policy }: AgentDefinition) => ({ kind, tools: tools.toSorted(), ...policy })

test('[COL-1] the shipped agents load, and the check finds nothing', () => {
  expect(shipped.agents.map(({ name }) => name)).toEqual([
    'architect',
    'challenger',
    'coder',
    'developer',
    'documenter',
    'engineer',
    'explore',
    'general-purpose',
    'lead',
    'optimizer',
    'plan',
    'reviewer',
    'search',
    'security',
    'summarizer',
    'tester',
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
    ['Engineer', 'engineer', 'sonnet'],
    ['general-purpose', 'general-purpose', 'sonnet'],
    ['Architect', 'architect', 'opus'],
    ['Explore', 'explore', 'haiku'],
  ])
})

test('[RUN-3][RUN-14] the lead decides and hands out, the coder and the engineer change files and delegate; none may do more', () => {
  const of = (name: string) => {
    const { kind, tools, allow, delegateTargets } = gates(findAgent(shipped.agents, name))
    return { kind, allow, delegateTargets, writes: tools.filter((tool) => /^(Write|Edit|Bash)$/.test(tool)) }
  }
  expect(of('lead')).toEqual({
    kind: 'main',
    allow: ['Finalize', 'Delegate'],
    delegateTargets: ['search', 'plan', 'challenger'],
    writes: [],
  })
  expect(of('coder')).toEqual({
    kind: 'main',
    allow: ['Patch', 'Delegate'],
    delegateTargets: ['search', 'plan', 'tester', 'reviewer'],
    writes: ['Bash', 'Edit', 'Write'],
  })
  expect(of('engineer')).toMatchObject({ kind: 'main', allow: ['Patch', 'Delegate'] })
})

test('[RUN-14] whoever a shipped agent may delegate to is a subagent, and no subagent may delegate', () => {
  for (const { kind, policy } of shipped.agents) {
    if (kind === 'subagent') expect(policy.allow).not.toContain('Delegate')
    const targets = policy.delegateTargets === 'any' ? [] : policy.delegateTargets
    for (const target of targets) expect(findAgent(shipped.agents, target).kind).toBe('subagent')
  }
})

test('[COL-69] tester, documenter and optimizer change files and run commands, security only reads; none may do more', () => {
  const works = {
    kind: 'subagent',
    tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
    allow: ['Patch'],
    delegateTargets: 'any',
  }
  for (const name of ['tester', 'documenter', 'optimizer'])
    expect(gates(findAgent(shipped.agents, name)), name).toEqual(works)
  expect(gates(findAgent(shipped.agents, 'security'))).toEqual({
    ...works,
    tools: ['Glob', 'Grep', 'Read'],
    allow: [],
  })
})

test.each(['search', 'plan', 'challenger', 'security', 'explore'])(
  '[RUN-23] %s only reads: it has neither a tool nor a policy that changes anything',
  (name) => {
    const { kind, tools, policy } = findAgent(shipped.agents, name)
    expect({ kind, allow: policy.allow }).toEqual({ kind: 'subagent', allow: [] })
    expect(tools.filter((tool) => !['Read', 'Glob', 'Grep', 'LSP'].includes(tool))).toEqual([])
  },
)

test.each([
  [
    'tester',
    ['test/a.ts', 'src/deep/a.test.ts', 'pkg/x_test.go', 'a.spec.tsx', 'py/test_a.py'],
    ['src/a.ts'],
  ],
  [
    'documenter',
    ['docs/guide/a.md', 'README.md', 'pkg/README.md'],
    // A page that is an agent file would open gates.
    ['src/a.ts', 'agents/lead.md', '.muster/agents/x.md'],
  ],
])('[COL-69][RUN-23] the %s changes its own files and no others', (name, own, others) => {
  const agent = findAgent(shipped.agents, name)
  expect(agent).toMatchObject({ kind: 'subagent', policy: { allow: ['Patch'] } })
  const gate = (path: string) => gateCall({ agent, depth: 1 }, { tool: 'Write', changes: [path] })
  expect(own.filter((path) => gate(path) !== undefined)).toEqual([])
  expect(others.filter((path) => gate(path)?.gate !== 'scope')).toEqual([])
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
