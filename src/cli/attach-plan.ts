import { basename } from 'node:path'

/** How a terminal is shown: in this one, in a window of the tmux around us, or by switching what that tmux shows. */
export type AttachPlan = {
  readonly way: 'here' | 'window' | 'switch'
  readonly argv: readonly string[]
}

/** Decides how to run an attach command; a tmux inside another would fight over keys, so it gets a window of its own. */
export function attachPlan(
  argv: readonly string[],
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): AttachPlan {
  const around = env['TMUX']?.split(',')[0]
  if (!around) return { way: 'here', argv }
  const [program = 'tmux'] = argv
  const target = valueAfter(argv, '-t')
  if (target !== undefined && isSameServer(argv, around)) {
    return { way: 'switch', argv: [program, '-S', around, 'switch-client', '-t', target] }
  }
  // Several words after the options are run as they are, without a shell.
  const inner = ['env', '-u', 'TMUX', '-u', 'TMUX_PANE', ...argv]
  return { way: 'window', argv: ['tmux', '-S', around, 'new-window', '-n', name, ...inner] }
}

function isSameServer(argv: readonly string[], around: string): boolean {
  const path = valueAfter(argv, '-S')
  return path === undefined ? (valueAfter(argv, '-L') ?? 'default') === basename(around) : path === around
}

function valueAfter(argv: readonly string[], flag: string): string | undefined {
  const at = argv.indexOf(flag)
  return at === -1 ? undefined : argv[at + 1]
}
