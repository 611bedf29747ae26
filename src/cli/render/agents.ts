import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { oneLine, plainLines } from './one-line.ts'
import { painter } from './paint.ts'
import { table } from './table.ts'

/** The agents in force, one line each. */
export function renderAgentList(agents: CommandOutput<'agents list'>, { width }: View): string {
  if (agents.length === 0) return 'No agent definitions were found.'
  return table(
    [
      { title: 'NAME' },
      { title: 'KIND' },
      { title: 'FROM' },
      { title: 'MODEL' },
      { title: 'DESCRIPTION', isElastic: true },
    ],
    agents.map(({ name, kind, source, model, description }) => [
      name,
      kind,
      source,
      model ?? '-',
      oneLine(description),
    ]),
    width,
  )
}

/** One agent with its prompt. */
export function renderAgent(agent: CommandOutput<'agents show'>, { color }: View): string {
  const paint = painter(color)
  const { allow, delegateTargets } = agent.policy
  const rows: [string, string][] = [
    ['kind', agent.kind],
    ['model', agent.model ?? 'the default'],
    ['tools', agent.tools.includes('*') ? 'all' : agent.tools.join(', ') || 'none'],
    ['policy', allow.join(', ') || 'none'],
    ...(allow.includes('Delegate')
      ? [['delegates to', delegateTargets === 'any' ? 'any' : delegateTargets.join(', ')] as [string, string]]
      : []),
    ...(agent.aliases.length > 0 ? [['aliases', agent.aliases.join(', ')] as [string, string]] : []),
    ['file', `${agent.file} (${agent.source})`],
  ]
  return [
    `${paint('bold', agent.name)}  ${oneLine(agent.description)}`.trimEnd(),
    ...rows.map(([term, text]) => `  ${term.padEnd(12)}  ${oneLine(text)}`),
    '',
    plainLines(agent.prompt).trimEnd(),
  ].join('\n')
}

/** Where a new agent is, and how to go on with it. */
export function renderNewAgent({ name, kind, source, file }: CommandOutput<'agents new'>): string {
  const steps = [
    ['sm agents check', 'after you have written what it is for'],
    [`sm agents show ${name}`, 'what is in force of it'],
    [`sm spawn ${name} "a first task"`, 'try it in a session'],
  ]
  const size = Math.max(...steps.map(([line = '']) => line.length))
  return [
    `Wrote ${file} (${source}, ${kind}). Edit it, then:`,
    ...steps.map(([line = '', does]) => `  ${line.padEnd(size)}  ${does}`),
  ].join('\n')
}
