import type { PermissionMode } from '../../contract/values.ts'

const modes: Readonly<Record<string, PermissionMode>> = {
  default: 'manual',
  manual: 'manual',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  bypassPermissions: 'bypass',
}

/** Takes the permission mode out of arguments, because it is shown, recorded and put differently for each CLI. */
export function takePermissionMode(args: readonly string[]): { args: string[]; mode?: PermissionMode } {
  const rest: string[] = []
  let mode: PermissionMode | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    const [flag, inline] = arg.startsWith('--permission-mode=') ? arg.split('=', 2) : [arg, undefined]
    const known = flag === '--permission-mode' ? modes[inline ?? args[i + 1] ?? ''] : undefined
    if (arg === '--dangerously-skip-permissions') mode = 'bypass'
    else if (known) {
      mode = known
      if (inline === undefined) i++
    } else rest.push(arg)
  }
  return { args: rest, ...(mode && { mode }) }
}
