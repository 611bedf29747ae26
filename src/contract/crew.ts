import * as z from 'zod'

/** How the members of a crew work together. */
export const CrewPattern = z.enum(['master_worker', 'pipeline', 'peer_to_peer', 'consensus'])
export type CrewPattern = z.infer<typeof CrewPattern>

/** What becomes of work that was not approved in the last round there may be. */
export const OnMaxIterations = z.enum(['human_review', 'abort', 'force_approve'])

/** The bounds of one run of a crew. */
export const CrewLimits = z.strictObject({
  maxIterations: z.int(),
  maxParallel: z.int(),
  maxTasks: z.int(),
  developerMinutes: z.number(),
  reviewerMinutes: z.number(),
  progressSeconds: z.int(),
})

/** The most that one run of a crew may use. */
export const CrewBudget = z.strictObject({
  tokens: z.int().min(1).optional(),
  usd: z.number().positive().optional(),
  minutes: z.number().positive().optional(),
})

/** Commands that Muster runs itself before a review. */
export const CrewChecks = z.strictObject({
  test: z.string().optional(),
  typeCheck: z.string().optional(),
  custom: z.array(z.strictObject({ name: z.string(), command: z.string() })),
})
export type CrewChecks = z.infer<typeof CrewChecks>

/** The most characters that a style guide may have: it is part of every task. */
export const styleGuideChars = 32_768

/** How code is written in a project: the text itself, or a file of the project that has it. */
export const StyleGuide = z.union([
  z.string().min(1).max(styleGuideChars),
  z.strictObject({
    file: z
      .string()
      .min(1)
      .max(1024)
      .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), {
        error: 'must be a path inside the project, such as docs/style.md',
      }),
  }),
])
export type StyleGuide = z.infer<typeof StyleGuide>

/** One of the answers that can be voted for. */
const Choice = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\r\n]*$/, 'a choice is one line')
  .refine((word) => !['abstain', 'no_decision'].includes(word.toLowerCase()), {
    error: ({ input }) => `${String(input)} cannot be a choice: it stands for no vote`,
  })

/** The choices of a vote; each is another one. */
export const Choices = z
  .array(Choice)
  .min(2)
  .max(10)
  .refine((all) => new Set(all.map((one) => one.toLowerCase())).size === all.length, {
    error: 'two choices are the same',
  })

/** What is voted on, for what, and how many have to vote. */
export const CrewVote = z.strictObject({
  on: z.enum(['question', 'diff']),
  choices: Choices,
  quorum: z.int().min(1),
})
export type CrewVote = z.infer<typeof CrewVote>

/** What becomes of a diff that is voted on. */
export const diffChoices = ['approve', 'reject'] as const

/**
 * What a member is there for: who plans, who attacks the plan, who takes tasks, who judges, a place in a row, one of
 * equals, or a vote.
 */
export const Duty = z.enum(['plan', 'challenge', 'work', 'review', 'stage', 'peer', 'vote'])
export type Duty = z.infer<typeof Duty>

/** One place in a crew, and who fills it. */
const CrewMember = z.strictObject({
  id: z.string(),
  role: z.string(),
  duty: Duty,
  /** The agent definition, by the name that is in force. */
  agent: z.string(),
  /** `own` is a built-in agent; anything else is a coding CLI or a program of the settings. Chosen at the start when left out. */
  cli: z.string().optional(),
  model: z.string().optional(),
  /** How many may work at a time. */
  count: z.int(),
  guidelines: z.array(z.string()),
})

/** Which way a request takes: through a plan, as one task, to reviewers alone, from member to member, among equals, or to a vote. */
export const CrewFlow = z.enum(['planned', 'one_task', 'review', 'pipeline', 'peer_to_peer', 'consensus'])
export type CrewFlow = z.infer<typeof CrewFlow>

/** A crew that can be run: each member is an agent that there is. */
export const Crew = z.strictObject({
  name: z.string(),
  aliases: z.array(z.string()),
  description: z.string(),
  pattern: CrewPattern,
  flow: CrewFlow,
  members: z.array(CrewMember),
  limits: CrewLimits,
  budget: CrewBudget.optional(),
  checks: CrewChecks,
  /** Of a crew that votes. */
  vote: CrewVote.optional(),
  styleGuide: StyleGuide.optional(),
  approvePlan: z.boolean(),
  onMaxIterations: OnMaxIterations,
  recommendedFor: z.array(z.string()),
  source: z.enum(['shipped', 'user', 'project']),
  file: z.string(),
})
export type Crew = z.infer<typeof Crew>
export type CrewMember = Crew['members'][number]
