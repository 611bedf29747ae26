/** Takes a flag with its value out of arguments; the last one counts, as it does for the CLI. */
export function takeFlag(
  args: readonly string[],
  flag: string,
): { readonly args: readonly string[]; readonly value?: string } {
  const rest: string[] = []
  let value: string | undefined
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === flag) value = args[++i]
    else if (arg.startsWith(`${flag}=`)) value = arg.slice(flag.length + 1)
    else rest.push(arg)
  }
  return { args: rest, ...(value !== undefined && { value }) }
}
