import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import { findNamed } from '../../contract/find-named.ts'
import { defineCommands, type View } from '../command-module.ts'
import { budgetText, plural } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { oneLine, plainLines } from '../render/safe-text.ts'
import { table, terms } from '../render/table.ts'

/** Agents and crews as their files define them. */
export const definitionCommands = defineCommands({
  'agents list': {
    run: async (_input, io) => {
      const { agents, problems } = await (await io.offline()).agentsLoad(io.signal)
      if (problems.length > 0)
        io.say(`${plural(problems.length, 'problem')} in agent files; see: sm agents check`)
      return agents.map(agentCard)
    },
    render: renderAgentList,
  },
  'agents show': {
    run: async ({ name }, io) => {
      const { agents } = await (await io.offline()).agentsLoad(io.signal)
      const result = findNamed(agents, name)
      if (result.found) return { ...agentCard(result.found), prompt: result.found.prompt }
      const hint = result.near === undefined ? 'sm agents list shows them' : `did you mean ${result.near}?`
      throw new AppError('not_found', `there is no agent called ${name}; ${hint}`)
    },
    render: renderAgent,
  },
  'agents check': {
    run: async (_input, io) => {
      const { agents, problems, shadowed } = await (await io.offline()).agentsLoad(io.signal)
      return {
        agents: agents.length,
        problems: problems.map(({ file, line, severity, message }) => ({ file, line, severity, message })),
        shadowed: shadowed.map(({ name, file, by }) => ({ name, file, by })),
      }
    },
    render: ({ agents, ...checked }, view) =>
      renderCheckedDefinitions({ loaded: agents, word: 'agent', ...checked }, view),
    exitCode: ({ problems }) =>
      problems.some(({ severity }) => severity === 'error') ? errorCodes.failed.exit : 0,
  },
  'agents new': {
    run: async ({ name, kind, from, user }, io) =>
      (await io.offline()).agentsNew(
        { name, kind: isKind(kind) ? kind : undefined, isUser: user, from },
        io.signal,
      ),
    render: renderNewAgent,
  },
  'crews list': {
    run: async (_input, io) => {
      const { crews, problems } = await (await io.offline()).crewsLoad(io.signal)
      if (problems.length > 0)
        io.say(`${plural(problems.length, 'problem')} in crew files; see: sm crews check`)
      return crews
    },
    render: renderCrewList,
  },
  'crews show': {
    run: async ({ name }, io) => {
      const { crews, problems } = await (await io.offline()).crewsLoad(io.signal)
      const result = findNamed(crews, name)
      if (result.found) return result.found
      const isSkipped = problems.some(({ severity }) => severity === 'error')
      const usual = isSkipped ? 'a file was skipped, see: sm crews check' : 'sm crews list shows them'
      const hint = result.near === undefined ? usual : `did you mean ${result.near}?`
      throw new AppError('not_found', `there is no crew called ${name}; ${hint}`)
    },
    render: renderCrew,
  },
  'crews check': {
    run: async (_input, io) => {
      const { crews, problems, shadowed } = await (await io.offline()).crewsLoad(io.signal)
      return {
        crews: crews.length,
        problems: [...problems],
        shadowed: shadowed.map(({ name, file, by }) => ({ name, file, by })),
      }
    },
    render: ({ crews, ...checked }, view) =>
      renderCheckedDefinitions({ loaded: crews, word: 'crew', ...checked }, view),
    exitCode: ({ problems }) =>
      problems.some(({ severity }) => severity === 'error') ? errorCodes.failed.exit : 0,
  },
})

const isKind = (word: string | undefined): word is 'main' | 'subagent' =>
  word === 'main' || word === 'subagent'

const flowWords: Record<ShownCrew['flow'], string> = {
  planned: 'an architect makes a plan, and its tasks are handed out',
  one_task: 'the request is the one task',
  review: 'the code is reviewed as it is; nothing is changed',
  pipeline: "each member's output is the next one's input",
  peer_to_peer: 'the members take turns as equals until all agree',
  consensus: 'the members vote, unseen by each other',
}

const endWords: Record<ShownCrew['onMaxIterations'], string> = {
  human_review: 'a person decides about work that was not approved in the last round',
  abort: 'work that was not approved in the last round has failed',
  force_approve: 'work that was not approved in the last round is accepted anyway',
}

const voteWords = ({ on, choices, quorum }: NonNullable<ShownCrew['vote']>): string =>
  `on ${on === 'diff' ? 'the work in the project' : 'the request'}: ${choices.join(' or ')}; ${quorum} have to vote`

const styleWords = (style: NonNullable<ShownCrew['styleGuide']>): string =>
  typeof style === 'string' ? style.slice(0, 200) : `as ${style.file} of the project says`

/** What is shown of an agent definition. */
export function agentCard(agent: AgentDefinition): CommandOutput<'agents list'>[number] {
  const { name, description, kind, source, file, model, policy } = agent
  return {
    name,
    aliases: [...agent.aliases],
    description,
    kind,
    source,
    file,
    ...(model === undefined ? {} : { model }),
    tools: [...agent.tools],
    policy: {
      allow: [...policy.allow],
      delegateTargets: policy.delegateTargets === 'any' ? 'any' : [...policy.delegateTargets],
    },
  }
}

/** The agents in force, one line each. */
export function renderAgentList(agents: CommandOutput<'agents list'>, { width }: View): string {
  if (agents.length === 0) return 'No agent definitions were found.'
  return table(
    agents,
    [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'KIND', cell: ({ kind }) => kind },
      { title: 'FROM', cell: ({ source }) => source },
      { title: 'MODEL', cell: ({ model }) => model ?? '-' },
      { title: 'DESCRIPTION', isElastic: true, cell: ({ description }) => oneLine(description) },
    ],
    width,
  )
}

/** One agent with its prompt. */
export function renderAgent(agent: CommandOutput<'agents show'>, { color }: View): string {
  const paint = painter(color)
  const { allow, delegateTargets } = agent.policy
  const rows: (readonly [string, string])[] = [
    ['kind', agent.kind],
    ['model', agent.model ?? 'the default'],
    ['tools', agent.tools.includes('*') ? 'all' : agent.tools.join(', ') || 'none'],
    ['policy', allow.join(', ') || 'none'],
    ...(allow.includes('Delegate')
      ? [['delegates to', delegateTargets === 'any' ? 'any' : delegateTargets.join(', ')] as const]
      : []),
    ...(agent.aliases.length > 0 ? [['aliases', agent.aliases.join(', ')] as const] : []),
    ['file', `${agent.file} (${agent.source})`],
  ]
  return [
    `${paint('bold', oneLine(agent.name))}  ${oneLine(agent.description)}`.trimEnd(),
    ...terms(rows.map(([term, text]) => [term, oneLine(text)])),
    '',
    plainLines(agent.prompt).trimEnd(),
  ].join('\n')
}

/** Where a new agent is, and how to go on with it. */
export function renderNewAgent({ name, kind, source, file }: CommandOutput<'agents new'>): string {
  const steps = [
    ['sm agents check', 'once you have described what it is for'],
    [`sm agents show ${name}`, 'the settings it will run with'],
    [`sm spawn ${name} "a first task"`, 'try it in a session'],
  ] as const
  return [`Wrote ${oneLine(file)} (${source}, ${kind}). Edit it, then:`, ...terms(steps)].join('\n')
}

type ShownCrew = CommandOutput<'crews show'>

/** The crews that can be run, one line each. */
export function renderCrewList(crews: CommandOutput<'crews list'>, { width }: View): string {
  if (crews.length === 0) return 'No crews were found.'
  return table(
    crews,
    [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'FROM', cell: ({ source }) => source },
      { title: 'MEMBERS', align: 'right', cell: ({ members }) => String(members.length) },
      { title: 'DESCRIPTION', isElastic: true, cell: ({ description }) => oneLine(description) },
    ],
    width,
  )
}

/** One crew: how it works, within which bounds, and who takes part. */
export function renderCrew(crew: ShownCrew, { width, color }: View): string {
  const paint = painter(color)
  const rows: (readonly [string, string])[] = [
    ['works', flowWords[crew.flow]],
    ...(crew.vote ? [['votes', voteWords(crew.vote)] as const] : []),
    ['limits', limitWords(crew)],
    ...(crew.budget ? [['budget', budgetText(crew.budget)] as const] : []),
    ['checks', checkWords(crew)],
    ...(crew.styleGuide === undefined ? [] : [['style', styleWords(crew.styleGuide)] as const]),
    ...(crew.approvePlan ? [['plan', 'approved by a person before work begins'] as const] : []),
    ['at the end', endWords[crew.onMaxIterations]],
    ...(crew.aliases.length > 0 ? [['aliases', crew.aliases.join(', ')] as const] : []),
    ...crew.recommendedFor.map((work): [string, string] => ['good for', work]),
    ['file', `${crew.file} (${crew.source})`],
  ]
  return [
    `${paint('bold', oneLine(crew.name))}  ${oneLine(crew.description)}`.trimEnd(),
    ...terms(rows.map(([term, text]) => [term, oneLine(text)])),
    '',
    memberTable(crew, width),
    ...crew.members.flatMap(({ id, guidelines }) =>
      guidelines.map((sentence) => `  ${oneLine(`${id}: ${sentence}`)}`),
    ),
  ].join('\n')
}

function memberTable({ members }: ShownCrew, width: number): string {
  return table(
    members,
    [
      { title: 'MEMBER', cell: ({ id }) => id },
      { title: 'DUTY', cell: ({ duty }) => duty },
      { title: 'AGENT', cell: ({ agent }) => agent },
      { title: 'CLI', cell: ({ cli }) => cli ?? 'chosen' },
      { title: 'MODEL', cell: ({ model }) => model ?? '-' },
      { title: 'AT A TIME', isElastic: true, cell: ({ count }) => String(count) },
    ],
    width,
  )
}

function limitWords({ limits }: ShownCrew): string {
  return [
    plural(limits.maxIterations, 'round'),
    `${plural(limits.maxTasks, 'task')}, ${limits.maxParallel} at a time`,
    `${limits.developerMinutes} min for a task, ${limits.reviewerMinutes} min for a review`,
  ].join('; ')
}

function checkWords({ checks }: ShownCrew): string {
  const named = [
    ...(checks.test === undefined ? [] : [checks.test]),
    ...(checks.typeCheck === undefined ? [] : [checks.typeCheck]),
    ...checks.custom.map(({ name, command }) => `${name} (${command})`),
  ]
  return named.length === 0 ? 'none' : named.join(', ')
}

/** What a check of definition files found. */
export type CheckedDefinitions = Pick<CommandOutput<'agents check'>, 'problems' | 'shadowed'> & {
  readonly word: 'agent' | 'crew'
  readonly loaded: number
}

/** What is wrong with definition files, by place. */
export function renderCheckedDefinitions(
  { word, loaded, problems, shadowed }: CheckedDefinitions,
  { color }: View,
): string {
  const paint = painter(color)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const skipped = new Set(errors.map(({ file }) => file)).size
  return [
    ...problems.map(({ file, line, severity, message }) => {
      const label = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning')
      return `${oneLine(file)}:${line}: ${label}: ${oneLine(message)}`
    }),
    ...shadowed.map(({ name, file, by }) => oneLine(`${file}: ${name} is hidden by ${by}`)),
    `${plural(loaded, word)} loaded, ${plural(skipped, 'file')} skipped, ${plural(problems.length - errors.length, 'warning')}.`,
  ].join('\n')
}
