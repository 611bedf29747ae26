import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { nearest } from '../../contract/config/nearest.ts'
import {
  type Crew,
  type CrewFlow,
  type CrewMember,
  type CrewPattern,
  type CrewVote,
  type Duty,
  diffChoices,
} from '../../contract/crew.ts'
import type { CrewDefinition, LoadedCrews } from '../../contract/crew-definition.ts'
import type { DefinitionProblem } from '../../contract/definition-file.ts'
import { findNamed } from '../../contract/find-named.ts'

/** Who could fill a place: the agents in force, and the CLIs by name. */
type Available = { readonly agents: readonly AgentDefinition[]; readonly clis: readonly string[] }

/** Gives each member its agent and its duty; a crew that cannot work is left out with the reasons. */
export function resolveCrews(loaded: LoadedCrews, available: Available): LoadedCrews<Crew> {
  const resolved = loaded.crews.map((crew) => resolveCrew(crew, available))
  const problems = [...loaded.problems, ...resolved.flatMap((result) => result.problems)]
  return {
    crews: resolved.map(({ crew }) => crew).filter((crew) => crew !== undefined),
    problems: problems.toSorted(
      (a, b) => Number(a.file > b.file) - Number(a.file < b.file) || a.line - b.line,
    ),
    shadowed: loaded.shadowed,
    held: loaded.held,
  }
}

type Place = CrewDefinition['members'][number]

function resolveCrew(crew: CrewDefinition, available: Available) {
  const problems: DefinitionProblem[] = []
  const report = (severity: DefinitionProblem['severity'], path: string, message: string) =>
    problems.push({ file: crew.file, line: lineOf(crew, path), severity, message })
  if (crew.description === '')
    report('warning', 'description', 'no description: nobody can tell when to use this crew')
  const members = crew.members.map((place, index): CrewMember => {
    const { agent, missing } = agentOf(place, available.agents)
    const duty = dutyOf(crew, place, agent)
    const unknown = place.cli === undefined ? undefined : unknownCli(place.cli, available.clis)
    if (unknown !== undefined) report('error', `members.${index}.cli`, unknown)
    if (missing !== undefined) report('error', `members.${index}.agent`, missing)
    const unequal = duty === 'peer' && agent ? whyNoPeer(agent, available.agents) : undefined
    if (unequal !== undefined) report('error', `members.${index}.agent`, unequal)
    const doubt = agent && doubtAbout(duty, agent)
    if (doubt !== undefined) report('warning', `members.${index}.agent`, doubt)
    return { ...place, agent: agent?.name ?? place.agent, duty }
  })
  for (const { path, message } of crewRules(crew, members)) report('error', path, message)
  if (problems.some(({ severity }) => severity === 'error')) return { crew: undefined, problems }
  const { lines: _lines, vote: _vote, ...rest } = crew
  const flow = crew.pattern === 'master_worker' ? flowOf(members) : crew.pattern
  const vote = crew.pattern === 'consensus' ? { vote: wholeVote(crew.vote, members) } : {}
  return { crew: { ...rest, aliases: [...crew.aliases], flow, members, ...vote }, problems }
}

/** What a vote is about, with all that its file left out. */
function wholeVote({ on = 'question', choices, quorum }: Partial<CrewVote> = {}, members: Members): CrewVote {
  const usual = on === 'diff' ? [...diffChoices] : ['yes', 'no']
  return { on, choices: choices ?? usual, quorum: quorum ?? Math.floor(headsOf(members) / 2) + 1 }
}

const headsOf = (members: Members): number => members.reduce((sum, { count }) => sum + count, 0)

/** Equals message each other, which no agent may that works for another. */
function whyNoPeer({ name, kind }: AgentDefinition, agents: readonly AgentDefinition[]): string | undefined {
  if (kind === 'main') return undefined
  const main = agents.filter((agent) => agent.kind === 'main' && agent.policy.allow.includes('Patch'))
  const hint =
    main.length === 0 ? 'see: sm agents list' : `there are ${main.map((one) => one.name).join(', ')}`
  return `${name} is a subagent, and peers are main agents; name one with agent: (${hint})`
}

function agentOf({ agent: wanted }: Place, agents: readonly AgentDefinition[]) {
  const result = findNamed(agents, wanted)
  if (result.found) return { agent: result.found }
  const hint = result.near === undefined ? 'see: sm agents list' : `did you mean ${result.near}?`
  return { missing: `there is no agent called ${wanted}; ${hint}` }
}

const duties: Readonly<Record<string, Duty>> = {
  architect: 'plan',
  challenger: 'challenge',
  developer: 'work',
  reviewer: 'review',
}

/** What every member is there for, in a pattern where the role does not decide it. */
const patternDuties: Readonly<Partial<Record<CrewPattern, Duty>>> = {
  pipeline: 'stage',
  peer_to_peer: 'peer',
  consensus: 'vote',
}

// A role of somebody's own takes tasks when its agent may change files, and judges when it may not.
function dutyOf({ pattern }: CrewDefinition, { role }: Place, agent: AgentDefinition | undefined): Duty {
  const own = patternDuties[pattern]
  if (own) return own
  return duties[role] ?? (agent?.policy.allow.includes('Patch') === false ? 'review' : 'work')
}

function flowOf(members: readonly CrewMember[]): CrewFlow {
  const does = (wanted: Duty) => members.some(({ duty }) => duty === wanted)
  if (does('plan')) return 'planned'
  return does('work') ? 'one_task' : 'review'
}

/** Why a CLI cannot be meant; nothing when it can. */
export function unknownCli(cli: string, clis: readonly string[]): string | undefined {
  if (cli === 'own' || clis.includes(cli)) return undefined
  const known = ['own', ...clis]
  const near = nearest(cli, known)
  const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`
  return `${cli} is not a CLI; ${hint}`
}

function doubtAbout(duty: Duty, { name, policy }: AgentDefinition): string | undefined {
  const mayPatch = policy.allow.includes('Patch')
  if (duty === 'work' && !mayPatch) return `the agent ${name} may not change files, so it cannot do a task`
  // A voter is given nothing that changes files.
  const isJudge = duty === 'plan' || duty === 'challenge' || duty === 'review'
  if (isJudge && mayPatch)
    return `the agent ${name} may change files; who plans, challenges or judges should not`
  return undefined
}

// A field that was left out is reported where the member begins, or the file.
function lineOf({ lines }: CrewDefinition, path: string): number {
  const steps = path.split('.')
  for (let size = steps.length; size > 0; size--) {
    const line = lines[steps.slice(0, size).join('.')]
    if (line !== undefined) return line
  }
  return 1
}

/** Something that a crew may not be, with the dotted path of the field that says it. */
type CrewFault = { readonly path: string; readonly message: string }

/** The members of a crew with their duties. */
type Members = readonly Pick<CrewMember, 'id' | 'count' | 'duty'>[]

/** Lists what keeps the members of a crew from working together. */
function crewRules({ pattern, approvePlan, vote, checks }: CrewDefinition, members: Members): CrewFault[] {
  const faults = [...repeatedIds(members), ...patternFaults[pattern](members)]
  if (pattern === 'consensus') faults.push(...voteFaults(vote, members))
  else if (vote)
    faults.push({ path: 'vote', message: `nobody votes in ${pattern}; leave it out, or use consensus` })
  // Whoever wrote them counts on their being run, and they would not be.
  if (pattern === 'consensus' && (checks.test ?? checks.typeCheck ?? checks.custom[0]) !== undefined)
    faults.push({
      path: 'checks',
      message: 'a consensus changes nothing, so no check is run; leave them out',
    })
  // Whoever wrote it counts on being asked, and would not be.
  if (approvePlan && !members.some(({ duty }) => duty === 'plan')) {
    const message = 'nobody makes a plan that could be approved; add an architect, or leave it out'
    faults.push({ path: 'approve_plan', message })
  }
  return faults
}

function repeatedIds(members: Members): CrewFault[] {
  return members.flatMap(({ id }, index) =>
    members.slice(0, index).some((other) => other.id === id)
      ? [{ path: `members.${index}.id`, message: `two members are called ${id}; give one another id` }]
      : [],
  )
}

type FaultsOf = (members: Members) => CrewFault[]

const patternFaults: Readonly<Record<CrewPattern, FaultsOf>> = {
  master_worker: workFaults,
  pipeline: (members) => crowds(members, 'each member of a pipeline is one agent; leave out count'),
  peer_to_peer: (members) => [
    ...crowds(members, 'each of several peers is one agent; leave out count, and list each'),
    ...members.flatMap(({ id }, index) =>
      id === 'all'
        ? [{ path: `members.${index}.id`, message: 'all stands for every member; choose another id' }]
        : [],
    ),
    ...atLeastTwo(members, 'one alone agrees with nobody; add another member'),
  ],
  consensus: (members) => atLeastTwo(members, 'one alone is no vote; add another member, or give it a count'),
}

const atLeastTwo = (members: Members, message: string): CrewFault[] =>
  headsOf(members) < 2 ? [{ path: 'members', message }] : []

/** All voters are at work at the same time. */
const mostVoters = 32

function voteFaults({ on, choices, quorum = 1 }: Partial<CrewVote> = {}, members: Members): CrewFault[] {
  const voters = headsOf(members)
  return [
    ...(voters > mostVoters
      ? [{ path: 'members', message: `${voters} voters are too many; there can be ${mostVoters}` }]
      : []),
    ...(quorum > voters
      ? [{ path: 'vote.quorum', message: `there are ${voters} voters, so ${quorum} can never vote` }]
      : []),
    ...(on === 'diff' && choices
      ? [
          {
            path: 'vote.choices',
            message: `on a diff the choices are ${diffChoices.join(' and ')}; leave them out`,
          },
        ]
      : []),
  ]
}

function crowds(members: Members, message: string): CrewFault[] {
  return members.flatMap(({ count }, index) =>
    count > 1 ? [{ path: `members.${index}.count`, message }] : [],
  )
}

function workFaults(members: Members): CrewFault[] {
  const places = (wanted: Duty) => [...members.entries()].filter(([, { duty }]) => duty === wanted)
  const [architect, ...more] = places('plan')
  const [challenger] = places('challenge')
  const faults = more.map(([index]) => ({
    path: `members.${index}.role`,
    message: 'a crew has one architect, who orchestrates; make this one a developer or a reviewer',
  }))
  if (architect && architect[1].count > 1)
    faults.push({
      path: `members.${architect[0]}.count`,
      message: 'a crew has one architect, who orchestrates; leave out count',
    })
  if (challenger && !architect)
    faults.push({
      path: `members.${challenger[0]}.role`,
      message: 'a challenger needs a plan, and without an architect there is none; add an architect',
    })
  const isReviewOnly = members.every(({ duty }) => duty === 'review')
  if (places('work').length === 0 && !isReviewOnly)
    faults.push({ path: 'members', message: 'nobody does the work; add a member with the role developer' })
  return faults
}
