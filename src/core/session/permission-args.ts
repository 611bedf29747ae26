import { agentClis } from '../../contract/agent-clis.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { PermissionMode } from '../../contract/values.ts'

const modes: Readonly<Record<string, PermissionMode>> = {
  default: 'manual',
  manual: 'manual',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  bypassPermissions: 'bypass',
}

/** Takes the permission mode out of arguments, because it is shown, recorded and put differently for each CLI. */
export function takePermissionMode(
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
