import { expect, test } from 'vitest'
import { type AgentDefinition, AgentFrontmatter, agentDefinition } from '../../contract/agent-definition.ts'
import { checkAgents } from './check-agents.ts'

const agent = (front: Record<string, unknown>, prompt = 'Work.'): AgentDefinition =>
  agentDefinition(AgentFrontmatter.parse({ description: 'x', tools: ['Read'], ...front }), {
    stem: 'stem',
    prompt,
    source: 'user',
    file: `/u/${String(front['name'])}.md`,
    lines: { name: 2, description: 3, tools: 4, policy: 5 },
  })
const check = (...agents: AgentDefinition[]) =>
  checkAgents({ agents, problems: [], shadowed: [], held: [] }).map(
    ({ file, line, severity, message }) => `${file}:${line} ${severity} ${message}`,
  )

test('[MUS-152] a sound crew has nothing to report', () => {
  expect(
    check(
      agent({
        name: 'lead',
        tools: ['Task', 'mcp__github__search'],
        mcp: ['github'],
        policy: { allow: ['Delegate'], delegate_targets: ['Engineer'] },
      }),
      agent({ name: 'dev', aliases: ['engineer'], kind: 'subagent', policy: ['Patch'] }),
      agent({ name: 'all', tools: ['*'], policy: ['Delegate'] }),
    ),
  ).toEqual([])
})

test('[MUS-152][RUN-22] a tool that is not known is named with the nearest one', () => {
  expect(check(agent({ name: 'a', tools: ['Reed', 'Frobnicate'] }))).toEqual([
    '/u/a.md:4 warning there is no tool called Reed; did you mean Read?',
    '/u/a.md:4 warning there is no tool called Frobnicate',
  ])
})

test('[RUN-4] a target that does not exist, or has no effect, is named', () => {
  const policy = { allow: ['Delegate'], delegate_targets: ['ghost'] }
  expect(check(agent({ name: 'a', tools: ['Task'], policy }))).toEqual([
    '/u/a.md:5 warning delegate_targets names ghost, which is not an agent',
  ])
  expect(check(agent({ name: 'a', policy: { delegate_targets: ['a'] } }))).toEqual([
    '/u/a.md:5 warning delegate_targets has no effect without Delegate',
  ])
})

test('[RUN-17] a subagent with Delegate is named, and a main agent without a tool for it', () => {
  expect(check(agent({ name: 'a', kind: 'subagent', policy: ['Delegate'] }))).toEqual([
    '/u/a.md:5 warning a subagent may never delegate; remove Delegate',
  ])
  expect(check(agent({ name: 'a', policy: ['Delegate'] }))).toEqual([
    '/u/a.md:5 warning Delegate needs one of the tools Agent, Task, delegate_to_agent',
  ])
})

test('[MUS-152] a tool that cannot do anything says what it needs', () => {
  expect(check(agent({ name: 'a', tools: ['mcp__github__search', 'mcp__slack', 'Write', 'Edit'] }))).toEqual([
    '/u/a.md:4 warning mcp__github__search is not there without its server: mcp: [github] names one of the settings',
    '/u/a.md:4 warning mcp__slack names no tool: write mcp__slack__ and its name',
    '/u/a.md:4 warning without policy: [Patch], Write and Edit are denied',
  ])
})

test('[MUS-152] an empty prompt, no tools and no description are named', () => {
  expect(check(agent({ name: 'a', tools: [], description: ' ' }, ''))).toEqual([
    '/u/a.md:2 warning the prompt is empty: write it below the second ---',
    '/u/a.md:3 warning no description: nobody can tell when to use this agent',
    '/u/a.md:4 warning no tools: the agent can only talk; tools: ["*"] allows all',
  ])
})

test('[MUS-153] what the loader found and what the check found come together, by file and line', () => {
  const problems = [
    { file: '/u/b.md', line: 9, severity: 'error', message: 'late' } as const,
    { file: '/u/b.md', line: 1, severity: 'error', message: 'early' } as const,
  ]
  const found = checkAgents({ agents: [agent({ name: 'a' }, '')], problems, shadowed: [], held: [] })
  expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual(['/u/a.md:2', '/u/b.md:1', '/u/b.md:9'])
})
