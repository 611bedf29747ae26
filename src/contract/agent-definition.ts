import * as z from 'zod'
import { GivenName } from './config/names.ts'
import type { Definition, DefinitionProblem, HeldDefinition, ShadowedDefinition } from './definition-file.ts'
import { AgentKind } from './values.ts'

/** An action beyond the use of tools: change files, end the task with a packet, hand work to another agent. */
export const Capability = z.enum(['Patch', 'Finalize', 'Delegate'])
export type Capability = z.infer<typeof Capability>

const CapabilityWord = z.preprocess((word) => (word === 'FinalizeTask' ? 'Finalize' : word), Capability)

// Cutting "Bash(git diff)" down to its name would open a gate that its author meant to keep narrow.
const ToolName = z
  .string()
  .regex(
    /^(\*|[A-Za-z][A-Za-z0-9_-]*)$/,
    'a tool is * or a bare name such as Read; a tool cannot be narrowed here',
  )

const words = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
const listOf = (item: z.ZodString) =>
  z.union([z.array(item), z.string().transform(words).pipe(z.array(item))], {
    error: 'expected a list, or one line with commas',
  })

const Globs = listOf(z.string().min(1).max(1000)).default([])

const Policy = z.union(
  [
    z.array(CapabilityWord),
    z.strictObject({
      allow: z.array(CapabilityWord).default([]).describe('Actions that the agent may take.'),
      delegate_targets: z
        .array(GivenName)
        .default([])
        .describe('Agents that it may delegate to; empty means any.'),
    }),
  ],
  { error: 'expected a list of Patch, Finalize, Delegate, or a map with allow and delegate_targets' },
)

const Iters = z.int().min(1).max(1000)

type Iterations = {
  readonly max_iters?: number | undefined
  readonly 'agent.max_iters'?: number | undefined
  readonly agent?: { readonly max_iters?: number | undefined } | undefined
}

/** The same limit, wherever in a file it stands. */
const itersOf = (front: Iterations): number[] =>
  [front.max_iters, front['agent.max_iters'], front.agent?.max_iters].filter((given) => given !== undefined)

/** The frontmatter of an agent file. */
export const AgentFrontmatter = z
  .strictObject({
    name: GivenName.optional().describe(
      'Name of the agent, not case-sensitive; the file name without .md when left out.',
    ),
    description: z
      .string()
      .max(4096)
      .default('')
      .describe('When to use this agent, in a sentence, for the people and agents who choose it.'),
    tools: listOf(ToolName)
      .default([])
      .describe('Tools that the agent may use, strictly enforced; ["*"] means all, left out means none.'),
    model: z
      .string()
      .max(200)
      .nullable()
      .default('inherit')
      .describe(
        'Model: a short name such as sonnet, or provider/model; inherit or empty means the default one.',
      ),
    kind: AgentKind.default('main').describe(
      'main takes tasks from people; subagent works for one main agent.',
    ),
    policy: Policy.default([]).describe(
      'Actions that the agent may take, strictly enforced: Patch changes files, Finalize ends with a packet, Delegate passes work on; left out means none.',
    ),
    aliases: listOf(GivenName).default([]).describe('Other names of the agent.'),
    work_globs: Globs.describe('Files that the agent may change, as globs; none means all of the project.'),
    default_lock_globs: Globs.describe('Files that the agent locks while it works.'),
    skills: listOf(z.string().min(1).max(200)).default([]).describe('Skills that are loaded for the agent.'),
    idle_prompt: z.string().min(1).optional().describe('Prompt that an idle agent is given.'),
    idle_interval_secs: z.int().min(1).optional().describe('Seconds between two idle prompts.'),
    personality: z.string().min(1).optional().describe('Style of speech, put before the prompt.'),
    max_iters: Iters.optional().describe('Maximum turns of one run.'),
    'agent.max_iters': Iters.optional().describe('The same as max_iters.'),
    agent: z.strictObject({ max_iters: Iters.optional() }).optional().describe('The same, as a map.'),
    budget: z
      .strictObject({
        tokens: z.int().min(1).optional(),
        usd: z.number().positive().optional(),
        minutes: z.number().positive().optional(),
      })
      .optional()
      .describe('Budget of one run.'),
    mcp: z
      .union([z.array(GivenName), z.record(GivenName, z.unknown())], {
        error: 'expected a list of server names, or a map of servers',
      })
      .optional()
      .describe('MCP servers of the agent.'),
  })
  .refine((front) => new Set(itersOf(front)).size < 2, {
    path: ['max_iters'],
    error: 'max_iters and agent.max_iters say different numbers; keep one of them',
  })
export type AgentFrontmatter = z.infer<typeof AgentFrontmatter>

/** One agent: who it is, what it may do, and its prompt. */
export type AgentDefinition = Definition & {
  readonly description: string
  readonly kind: z.infer<typeof AgentKind>
  /** `['*']` means every tool. */
  readonly tools: readonly string[]
  readonly policy: AgentPolicy
  /** Undefined means the default model. */
  readonly model: string | undefined
  readonly workGlobs: readonly string[]
  readonly defaultLockGlobs: readonly string[]
  readonly skills: readonly string[]
  readonly idlePrompt: string | undefined
  readonly idleIntervalSecs: number | undefined
  readonly personality: string | undefined
  readonly maxIters: number | undefined
  readonly budget: AgentFrontmatter['budget']
  readonly mcp: AgentFrontmatter['mcp']
  readonly prompt: string
}

/** What an agent may do besides using its tools. */
type AgentPolicy = {
  readonly allow: readonly Capability[]
  readonly delegateTargets: readonly string[] | 'any'
}

/** The agents in force, and what became of the files that are not. */
export type LoadedAgents = {
  readonly agents: readonly AgentDefinition[]
  readonly problems: readonly DefinitionProblem[]
  readonly shadowed: readonly ShadowedDefinition[]
  readonly held: readonly HeldDefinition[]
}

/** Gives parsed frontmatter its inner form. */
export function agentDefinition(front: AgentFrontmatter, origin: AgentOrigin): AgentDefinition {
  const { stem, ...place } = origin
  return {
    name: (front.name ?? stem).toLowerCase(),
    aliases: lowerCase(front.aliases),
    description: front.description.trim(),
    kind: front.kind,
    tools: front.tools.includes('*') ? ['*'] : [...new Set(front.tools)],
    policy: policyOf(front.policy),
    model: [null, '', 'inherit'].includes(front.model) ? undefined : (front.model ?? undefined),
    workGlobs: front.work_globs,
    defaultLockGlobs: front.default_lock_globs,
    skills: front.skills,
    idlePrompt: front.idle_prompt,
    idleIntervalSecs: front.idle_interval_secs,
    personality: front.personality,
    maxIters: itersOf(front)[0],
    budget: front.budget,
    mcp: front.mcp,
    ...place,
  }
}

/** Where a definition was read from, and its prompt. */
export type AgentOrigin = Pick<AgentDefinition, 'source' | 'file' | 'lines' | 'prompt'> & {
  readonly stem: string
}

function policyOf(written: AgentFrontmatter['policy']): AgentPolicy {
  const { allow, delegate_targets } = Array.isArray(written)
    ? { allow: written, delegate_targets: [] }
    : written
  const targets = lowerCase(delegate_targets)
  return { allow: [...new Set(allow)], delegateTargets: targets.length === 0 ? 'any' : targets }
}

function lowerCase(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))]
}
