import { agentClis, codingCliNames, isCodingCli } from '../../contract/agent-clis.ts'
import type { AgentDefinition, Capability, LoadedAgents } from '../../contract/agent-definition.ts'
import { mapLegacyArgs } from '../../contract/config/legacy-args.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { Config } from '../../contract/config.ts'
import { AppError } from '../../contract/errors.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import type { PermissionMode } from '../../contract/values.ts'
import { findAgent } from '../definitions/find-definition.ts'
import type { Managed } from './managed.ts'
import type { SessionState } from './state.ts'

/** What is known when a session is to be started. */
type LaunchContext = {
  readonly config: Config
  readonly agents: readonly AgentDefinition[]
  /** What is not in force of files of the project that nobody trusts as they are. */
  readonly held?: LoadedAgents['held']
  readonly shortId: string
}

/** A spawn with every default filled in. */
export type ResolvedLaunch = {
  readonly cli: AgentCliName
  /** The command of a program that the settings name. */
  readonly program: string
  readonly promptBy: 'argument' | 'typed'
  readonly args: readonly string[]
  readonly model?: string
  readonly permissionMode: PermissionMode
  readonly agentType: string
  readonly role?: {
    readonly text: string
    readonly tools?: readonly string[]
    readonly policy: readonly Capability[]
    readonly workGlobs?: readonly string[]
  }
  readonly name: string
  readonly friendlyName?: string
  readonly warnings: readonly string[]
}

/** The agent file gives the role, the configuration CLI, model and arguments, and what was asked for wins. */
export function resolveLaunch(request: SpawnRequest, context: LaunchContext): ResolvedLaunch {
  const { config } = context
  const word = request.agent_type.toLowerCase()
  const isConfigured = !isCodingCli(word) && Object.hasOwn(config.clis, word)
  if (isConfigured && request.cli !== undefined && request.cli !== word)
    throw new AppError(
      'invalid',
      `${word} is a program of the settings itself; leave out --cli ${request.cli}`,
    )
  const agent = isCodingCli(word) || isConfigured ? undefined : agentOf(word, request.agent_type, context)
  const typed = config.claude.agent_configs[agent?.name ?? word] ?? config.claude.agent_configs[word]
  const preset = presetOf(request.preset, config)
  const named = isConfigured ? word : (request.cli ?? (isCodingCli(word) ? word : (typed?.cli ?? 'claude')))
  const cli = cliNamed(named, config)
  const program = config.clis[named]
  const base =
    preset?.args ?? typed?.args ?? (cli === 'claude' ? config.claude.default_args : (program?.args ?? []))
  const legacy = mapLegacyArgs([...base, ...(request.args ?? [])])
  const { args, mode } = takePermissionMode(legacy.args, cli)
  const model = request.model ?? preset?.model ?? typed?.model ?? modelOf(agent)
  // Whoever asks for an Engineer finds an engineer, whatever file plays the part.
  const names = namesOf(word, request.name, context)
  return {
    cli,
    program: program?.command ?? (cli === 'claude' ? config.claude.default_command : cli),
    promptBy: program?.prompt ?? 'typed',
    args,
    permissionMode:
      request.permission_mode ?? mode ?? (request.worktree === undefined ? 'manual' : 'acceptEdits'),
    agentType: agent?.name ?? word,
    warnings: [...legacy.warnings, ...heldBack(agent, context)],
    ...(model !== undefined && { model }),
    ...(agent && { role: roleOf(agent) }),
    ...names,
  }
}

/** A name is that of a known CLI, or of a program that the settings have under it. */
function cliNamed(name: string, { clis }: Config): AgentCliName {
  if (isCodingCli(name)) return name
  if (Object.hasOwn(clis, name)) return 'custom'
  const own = Object.keys(clis).filter((other) => !isCodingCli(other))
  throw new AppError(
    'invalid',
    `no CLI is called ${name}; there are ${[...codingCliNames, ...own].join(', ')}. Name a program of your own in the settings: clis.${name}.command`,
  )
}

function agentOf(word: string, said: string, { config, agents }: LaunchContext): AgentDefinition | undefined {
  const known = agents.some((agent) => agent.name === word || agent.aliases.includes(word))
  // A type that only the configuration knows has no role file, and needs none.
  if (!known && Object.hasOwn(config.claude.agent_configs, word)) return undefined
  return findAgent(agents, said)
}

/** A repository that was cloned may bring agents; what they may do is told before they do it. */
function heldBack(agent: AgentDefinition | undefined, { held = [] }: LaunchContext): string[] {
  const found = agent && held.find(({ file }) => file === agent.file)
  return found
    ? [
        `${agent.name} is not trusted as it is, so this is not in force: ${found.says.join('; ')}; see: sm trust`,
      ]
    : []
}

function presetOf(name: string | undefined, config: Config) {
  if (name === undefined) return undefined
  const found = [name.toLowerCase(), name].find((one) => Object.hasOwn(config.claude.presets, one))
  if (found !== undefined) return config.claude.presets[found]
  const known = Object.keys(config.claude.presets).join(', ')
  throw new AppError(
    'not_found',
    `no preset ${name}; there are: ${known || 'none (claude.presets in the file)'}`,
  )
}

const modelOf = (agent: AgentDefinition | undefined): string | undefined =>
  agent?.model === undefined || agent.model === 'inherit' ? undefined : agent.model

const roleOf = (agent: AgentDefinition) => ({
  text: agent.prompt,
  ...(!agent.tools.includes('*') && { tools: agent.tools }),
  policy: agent.policy.allow,
  ...(agent.workGlobs.length > 0 && { workGlobs: agent.workGlobs }),
})

function namesOf(
  agentType: string,
  given: string | undefined,
  { config, shortId }: LaunchContext,
): { name: string; friendlyName?: string } {
  const { pattern, fallback } = config.sessions.naming
  const fill = (text: string) =>
    text
      .replaceAll('{agent_type}', agentType)
      .replaceAll('{short_id}', shortId)
      .replaceAll('{friendly_name}', given ?? shortId)
  if (given === undefined) return { name: fill(fallback) }
  // `--name engineer-task1042` and `--name task1042` mean the same session.
  const isWhole = given.toLowerCase().startsWith(`${agentType}-`)
  return { name: fill(fallback), friendlyName: isWhole ? given : fill(pattern) }
}

const modes: Readonly<Record<string, PermissionMode>> = {
  default: 'manual',
  manual: 'manual',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  bypassPermissions: 'bypass',
}

/** Takes the permission mode out of arguments, because it is shown, recorded and put differently for each CLI. */
function takePermissionMode(
  args: readonly string[],
  cli: AgentCliName,
): { args: readonly string[]; mode?: PermissionMode } {
  // What such words mean to a program of the user's own is not known here.
  if (cli === 'custom') return { args }
  // Settings of Claude Code are the defaults of every agent type, so its word is understood for all of them.
  const flags = [...agentClis.claude.bypassArgs, ...agentClis[cli].bypassArgs]
  const rest: string[] = []
  let mode: PermissionMode | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    const pair = `${arg} ${args[i + 1] ?? ''}`
    const known = /^--permission-mode[ =](\S*)$/.exec(arg.includes('=') ? arg : pair)?.[1]
    if (flags.includes(arg)) mode = 'bypass'
    else if (flags.includes(pair)) {
      mode = 'bypass'
      i++
    } else if (known !== undefined && modes[known]) {
      mode = modes[known]
      if (!arg.includes('=')) i++
    } else rest.push(arg)
  }
  return { args: rest, ...(mode && { mode }) }
}

/** From the one that asks most to the one that asks for nothing. */
const byFreedom: readonly PermissionMode[] = ['plan', 'manual', 'acceptEdits', 'bypass']

/**
 * Refuses a session that wants another to ask people less than the settings make it ask, or than it is asked itself:
 * a child would do for its parent what a person has to allow the parent.
 */
export function refuseFreer(
  request: SpawnRequest,
  caller: Pick<Managed, 'permissionMode'>,
  context: LaunchContext,
): void {
  const { permissionMode: wanted, cli } = resolveLaunch(request, context)
  const { permission_mode: _mode, args = [], ...rest } = request
  const { permissionMode: usual } = resolveLaunch(rest, context)
  const { permissionMode: own = 'manual' } = caller
  const most = Math.max(byFreedom.indexOf(usual), byFreedom.indexOf(own))
  if (byFreedom.indexOf(wanted) > most)
    throw new AppError(
      'denied',
      `a session starts none that asks people less than itself: ${wanted} is more than ${byFreedom[most] ?? own}; leave it out, or ask a person`,
    )
  // What words mean to a program of the user's own is not known here, and it asks nobody for anything.
  const loud = cli === 'custom' || own === 'bypass' ? undefined : loudArgument(args, cli)
  if (loud !== undefined)
    throw new AppError(
      'denied',
      `a session that asks people cannot pass ${loud}, which may change what they are asked; use an agent type or a preset of the settings, or ask a person`,
    )
}

/** The first argument that is not known to change nothing that is asked. */
function loudArgument(args: readonly string[], cli: AgentCliName): string | undefined {
  const { args: rest } = takePermissionMode(mapLegacyArgs(args).args, cli)
  const { quietArgs } = agentClis[cli]
  for (let i = 0; i < rest.length; i++) {
    const [flag = '', value] = rest[i]?.split(/=(.*)/s, 2) ?? []
    const takesValue = Object.hasOwn(quietArgs, flag) ? quietArgs[flag] : undefined
    if (takesValue === undefined || (value !== undefined && !takesValue)) return flag
    if (!takesValue || value !== undefined) continue
    // A program may take a value that looks like a flag for one.
    const next = rest[++i]
    if (next === undefined || next.startsWith('-')) return flag
  }
  return undefined
}

/** How the program of a session can be started again. */
export type RestartPlan =
  | { readonly kind: 'resume'; readonly foreignId: string }
  /** Nothing of it ever ran: it is started as the first time, with the prompt that still waits in the vault. */
  | { readonly kind: 'anew'; readonly prompt?: string }
  | { readonly kind: 'none'; readonly why: string }

/** No prompt is given a second time unless it is certain that it never ran. */
export function restartPlan(
  { managed, queue }: Pick<Readonly<SessionState>, 'managed' | 'queue'>,
  mayHaveRun: boolean,
): RestartPlan {
  if (!managed || managed.cli === 'custom')
    return {
      kind: 'none',
      why: 'its program has no conversation to continue; start another with: sm spawn',
    }
  if (mayHaveRun)
    return managed.foreignId === undefined
      ? {
          kind: 'none',
          why: 'its conversation is not known, and its prompt may have run; check its folder, then run: sm spawn',
        }
      : { kind: 'resume', foreignId: managed.foreignId }
  const waiting = queue?.find(({ by }) => by === 'launch')
  if (managed.hasPrompt && !waiting)
    return {
      kind: 'none',
      why: 'its prompt was accepted, but its record is gone; start another with: sm spawn',
    }
  return { kind: 'anew', ...(waiting?.vault !== undefined && { prompt: waiting.vault }) }
}
