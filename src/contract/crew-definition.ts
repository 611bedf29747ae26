import * as z from 'zod'
import { GivenName } from './config/names.ts'
import {
  Choices,
  type Crew,
  CrewBudget,
  type CrewMember,
  CrewPattern,
  type CrewVote,
  OnMaxIterations,
  StyleGuide,
} from './crew.ts'
import type { Definition, DefinitionProblem, HeldDefinition, ShadowedDefinition } from './definition-file.ts'

const Sentence = z.string().min(1).max(4096)
const CommandLine = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\r\n]*$/, 'a command is one line')

const Member = z.strictObject({
  id: GivenName.optional().describe('Name of this member in the crew; the role when left out.'),
  role: GivenName.describe(
    'architect plans, challenger looks for flaws in the plan, developer takes tasks, reviewer judges; any other word is the role of an agent.',
  ),
  agent: GivenName.optional().describe('Agent definition of this member; the role when left out.'),
  cli: GivenName.optional().describe(
    'own is a built-in agent; otherwise a coding CLI, or a program from the settings. Chosen when the crew starts if left out.',
  ),
  model: z.string().min(1).max(200).optional().describe('Model to use instead of the model of its agent.'),
  count: z.int().min(1).max(32).default(1).describe('How many may work at a time.'),
  guidelines: z.array(Sentence).max(32).default([]).describe('Sentences added to its prompt.'),
})

const minutes = (usual: number) => z.number().positive().max(1440).default(usual)

const Limits = z
  .strictObject({
    max_iterations: z.int().min(1).max(20).default(3).describe('Maximum rounds of review.'),
    max_parallel: z.int().min(1).max(32).default(4).describe('Maximum tasks in progress at a time.'),
    max_tasks: z.int().min(1).max(200).default(20).describe('Maximum tasks in a plan.'),
    developer_minutes: minutes(10).describe('Minutes for one task.'),
    reviewer_minutes: minutes(5).describe('Minutes for one review.'),
    progress_seconds: z.int().min(1).max(3600).default(30).describe('Seconds between two reports of a task.'),
  })
  .prefault({})

const Checks = z.strictObject({
  test: CommandLine.optional().describe('Runs the tests.'),
  type_check: CommandLine.optional().describe('Checks the types.'),
  custom: z
    .array(z.strictObject({ name: Sentence.max(200), command: CommandLine }))
    .max(32)
    .default([])
    .describe('Other commands that must succeed.'),
})

const VoteOf = z.strictObject({
  on: z
    .enum(['question', 'diff'])
    .default('question')
    .describe('question is the request itself; diff is the work in the project, to approve or reject.'),
  choices: Choices.optional().describe('What can be voted for on a question; yes and no when left out.'),
  quorum: z
    .int()
    .min(1)
    .max(1024)
    .optional()
    .describe('Votes needed for a decision; more than half of the voters when left out.'),
})

/** What a crew file may say. */
export const CrewFile = z.strictObject({
  name: GivenName.optional().describe('Name of the crew, not case-sensitive; the file name when left out.'),
  aliases: z.array(GivenName).max(32).default([]).describe('Other names of the crew.'),
  description: z.string().max(4096).default('').describe('What the crew is for, in a sentence.'),
  pattern: CrewPattern.default('master_worker').describe(
    'master_worker hands out tasks and reviews them; pipeline gives the output of each member to the next; in peer_to_peer equals take turns until they agree; in consensus members vote.',
  ),
  members: z.array(Member).min(1).max(32).describe('Who takes part; in a pipeline in this order.'),
  limits: Limits.describe('Limits of one run.'),
  budget: CrewBudget.optional().describe('Budget of one run.'),
  vote: VoteOf.optional().describe('What a consensus votes on.'),
  checks: Checks.prefault({}).describe(
    'Commands that Muster runs before each review, tests and types also for each task; all must succeed.',
  ),
  style_guide: StyleGuide.optional().describe(
    'How code is written here: the text itself, or { file: … } for a file of the project.',
  ),
  approve_plan: z.boolean().default(false).describe('Whether a person approves the plan before work begins.'),
  on_max_iterations: OnMaxIterations.default('human_review').describe(
    'What to do when the last round was not approved.',
  ),
  recommended_for: z.array(Sentence).max(32).default([]).describe('What the crew is good for.'),
})
export type CrewFile = z.infer<typeof CrewFile>

/** The keys that may stand at each place of a crew file; places in lists have no number. */
export const crewKeys: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(CrewFile.shape),
  members: Object.keys(Member.shape),
  limits: Object.keys(Limits.def.innerType.shape),
  budget: Object.keys(CrewBudget.shape),
  vote: Object.keys(VoteOf.shape),
  checks: Object.keys(Checks.shape),
  'checks.custom': ['name', 'command'],
  style_guide: ['file'],
}

/** A crew as its file says it; nobody has looked yet whether its agents are there. */
export type CrewDefinition = Definition &
  Omit<Crew, 'flow' | 'members' | 'vote' | keyof Definition> & {
    readonly members: readonly Place[]
    readonly vote?: Partial<CrewVote>
  }
type Place = Omit<CrewMember, 'duty'>

/** The crews that were found, and what became of the files that are not used. */
export type LoadedCrews<C = CrewDefinition> = {
  readonly crews: readonly C[]
  readonly problems: readonly DefinitionProblem[]
  readonly shadowed: readonly ShadowedDefinition[]
  readonly held: readonly HeldDefinition[]
}

/** Gives a parsed crew file its inner form. */
export function crewDefinition(written: CrewFile, origin: CrewOrigin): CrewDefinition {
  const { stem, ...place } = origin
  const { limits, checks } = written
  return {
    name: (written.name ?? stem).toLowerCase(),
    aliases: [...new Set(written.aliases.map((alias) => alias.toLowerCase()))],
    description: written.description.trim(),
    pattern: written.pattern,
    members: written.members.map((member, index) => ({
      id: (member.id ?? usualId(written.members, index)).toLowerCase(),
      role: member.role.toLowerCase(),
      agent: (member.agent ?? member.role).toLowerCase(),
      ...(member.cli !== undefined && { cli: member.cli.toLowerCase() }),
      ...(member.model !== undefined && { model: member.model }),
      count: member.count,
      guidelines: member.guidelines,
    })),
    limits: {
      maxIterations: limits.max_iterations,
      maxParallel: limits.max_parallel,
      maxTasks: limits.max_tasks,
      developerMinutes: limits.developer_minutes,
      reviewerMinutes: limits.reviewer_minutes,
      progressSeconds: limits.progress_seconds,
    },
    ...(written.budget && { budget: written.budget }),
    checks: {
      ...(checks.test !== undefined && { test: checks.test }),
      ...(checks.type_check !== undefined && { typeCheck: checks.type_check }),
      custom: checks.custom,
    },
    ...(written.vote && { vote: voteOf(written.vote) }),
    ...(written.style_guide !== undefined && { styleGuide: written.style_guide }),
    approvePlan: written.approve_plan,
    onMaxIterations: written.on_max_iterations,
    recommendedFor: written.recommended_for,
    ...place,
  }
}

const voteOf = ({ on, choices, quorum }: NonNullable<CrewFile['vote']>): Partial<CrewVote> => ({
  on,
  ...(choices && { choices }),
  ...(quorum !== undefined && { quorum }),
})

/** Where a crew was read from. */
export type CrewOrigin = Pick<Definition, 'source' | 'file' | 'lines'> & { readonly stem: string }

// The second developer that nobody named is developer-2.
function usualId(members: CrewFile['members'], index: number): string {
  const role = members[index]?.role ?? ''
  const before = members.slice(0, index).filter((other) => sameWord(other.role, role)).length
  return before === 0 ? role : `${role}-${before + 1}`
}

const sameWord = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
