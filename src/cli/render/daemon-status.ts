import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { CommandInput } from '../../contract/cli.ts'
import type { View } from '../command-module.ts'
import { plural } from './amounts.ts'
import { painter } from './paint.ts'

/** Where the daemon answers, and how to get there from the other end of an SSH connection. */
export function renderUp(
  { url, pid, version, started, forward }: CommandOutput<'up'>,
  { color }: View,
): string {
  const paint = painter(color)
  const state = started ? 'is up' : 'was running already'
  return [
    `Muster ${state} at ${paint('cyan', url)} (version ${version}, pid ${pid})`,
    ...(forward === undefined ? [] : [`From your own machine: ${forward}`]),
  ].join('\n')
}

export function renderDown(
  { stopped, killed }: CommandOutput<'down'>,
  _view: View,
  input: CommandInput<'down'>,
): string {
  if (!stopped)
    return input.sessions
      ? 'The daemon was not running, so no session could be ended; try again after: sm up'
      : 'The daemon was not running.'
  return input.sessions
    ? `The daemon is stopped; ${plural(killed, 'session')} ended first.`
    : 'The daemon is stopped; sessions go on.'
}
