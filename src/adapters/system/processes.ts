import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/processes.ts'
import { endTree } from './end-tree.ts'
import { procTable } from './proc-table.ts'
import type { ProcessTable } from './process-table.ts'
import { psTable } from './ps-table.ts'

export function systemProcesses(clock: Clock, table: ProcessTable = tableOfThisSystem()): Processes {
  return {
    async list(signal) {
      const rows = await table.rows(signal)
      return rows.map(({ session: _session, birth: _birth, ...info }) => info)
    },
    marked: (name, value, signal) => table.marked(name, value, signal),
    carrying: (names, signal) => table.carrying(names, signal),
    startedAt: (pid) => table.startedAt(pid),
    variable: (pid, name) => table.variable(pid, name),
    endTree: (root, { graceMs }, signal) => endTree(root, { table, clock, graceMs, signal }),
  }
}

const tableOfThisSystem = (): ProcessTable => (process.platform === 'linux' ? procTable : psTable)
