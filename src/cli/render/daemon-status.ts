import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
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

export const renderDown = ({ stopped }: CommandOutput<'down'>): string =>
  stopped ? 'The daemon is stopped; sessions go on.' : 'The daemon was not running.'
