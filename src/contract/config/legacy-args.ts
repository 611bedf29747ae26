/** Arguments in the spelling of today's Claude Code, and what had to be changed. */
export type MappedArgs = { readonly args: readonly string[]; readonly warnings: readonly string[] }

const replacements: Readonly<Record<string, readonly string[]>> = {
  '--bypass-permissions': ['--permission-mode', 'bypassPermissions'],
  '--plan': ['--permission-mode', 'plan'],
  '--compact': [],
}

/** Replaces flags that Claude Code does not know; it would refuse to start with them. */
export function mapLegacyArgs(args: readonly string[]): MappedArgs {
  const warnings: string[] = []
  const mapped = args.flatMap((arg) => {
    const replacement = Object.hasOwn(replacements, arg) ? replacements[arg] : undefined
    if (replacement === undefined) return [arg]
    warnings.push(
      replacement.length === 0
        ? `${arg} is not a flag of Claude Code and was dropped; leave it out`
        : `${arg} is not a flag of Claude Code and was read as ${replacement.join(' ')}; write that instead`,
    )
    return replacement
  })
  return { args: mapped, warnings }
}
