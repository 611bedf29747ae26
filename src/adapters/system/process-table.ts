import type { Processes, ProcessInfo } from '../../ports/processes.ts'

/** A process with what tells it from a later one that got the same pid. */
export type ProcessRow = ProcessInfo & {
  readonly session: number
  readonly birth: string
}

/** How one operating system is asked about its processes. */
export type ProcessTable = {
  /** All that live; those that ended and wait for their parent to notice do not. */
  rows(signal: AbortSignal): Promise<readonly ProcessRow[]>
  marked(name: string, value: string, signal: AbortSignal): Promise<readonly number[]>
  carrying: Processes['carrying']
  startedAt(pid: number): Promise<number | undefined>
  variable(pid: number, name: string): Promise<string | undefined>
  /** Whether the pid still belongs to the same process. */
  isSame(row: ProcessRow): Promise<boolean>
}
