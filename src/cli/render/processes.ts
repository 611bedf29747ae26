import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { bytes } from './amounts.ts'
import { age, duration } from './durations.ts'
import { oneLine } from './one-line.ts'
import { table } from './table.ts'
import { cut } from './text-width.ts'

const longestName = 24

/** The processes of sessions; those that were left behind are marked. */
export function renderProcesses({ processes }: CommandOutput<'ps'>, { width, now }: View): string {
  if (processes.length === 0) return 'No processes.'
  const rows = table(
    [
      { title: 'SESSION' },
      { title: 'ID' },
      { title: 'PID', align: 'right' },
      { title: 'MEMORY', align: 'right' },
      { title: 'CPU', align: 'right' },
      { title: 'AGE', align: 'right' },
      { title: 'COMMAND', isElastic: true },
    ],
    processes.map((one) => [
      cut(oneLine(one.name), longestName),
      one.session_id,
      String(one.pid),
      bytes(one.rss_bytes),
      duration(one.cpu_ms / 1000).replace(/ .*/, ''),
      age(one.started_at, now),
      oneLine(`${one.is_orphan ? '[left behind] ' : ''}${one.command.slice(0, 400)}`),
    ]),
    width,
  )
  const orphaned = new Set(processes.filter((one) => one.is_orphan).map((one) => one.session_id))
  const cures = Array.from(
    orphaned,
    (id) => `Session ${id} is over; end what it left behind with: sm kill ${id}`,
  )
  return [rows, ...cures].join('\n')
}
