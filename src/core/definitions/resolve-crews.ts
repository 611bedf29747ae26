import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { nearest } from '../../contract/config/nearest.ts'
import type { Crew, CrewFlow, CrewMember, Duty } from '../../contract/crew.ts'
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
    const doubt = agent && doubtAbout(duty, agent)
    if (doubt !== undefined) report('warning', `members.${index}.agent`, doubt)
    return { ...place, agent: agent?.name ?? place.agent, duty }
  })
  for (const { path, message } of crewRules(crew, members)) report('error', path, message)
  if (problems.some(({ severity }) => severity === 'error')) return { crew: undefined, problems }
  const { lines: _lines, ...rest } = crew
  const flow = crew.pattern === 'pipeline' ? 'pipeline' : flowOf(members)
  return { crew: { ...rest, aliases: [...crew.aliases], flow, members }, problems }
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

// A role of somebody's own takes tasks when its agent may change files, and judges when it may not.
function dutyOf({ pattern }: CrewDefinition, { role }: Place, agent: AgentDefinition | undefined): Duty {
  if (pattern === 'pipeline') return 'stage'
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
  if (duty !== 'work' && duty !== 'stage' && mayPatch)
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
function crewRules({ pattern, approvePlan }: CrewDefinition, members: Members): CrewFault[] {
  const faults = [
    ...repeatedIds(members),
    ...(pattern === 'pipeline' ? crowds(members) : workFaults(members)),
  ]
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

function crowds(members: Members): CrewFault[] {
  const message = 'each member of a pipeline is one agent; leave out count'
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
