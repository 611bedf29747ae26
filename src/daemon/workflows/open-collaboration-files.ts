import type { Journal } from '../../adapters/jsonl/journal.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import type { Engine } from '../../engine/engine.ts'
import type { IndexClient } from '../index-client.ts'
import { exportSession, namesOf } from '../session-files.ts'
import { CollaborationFiles } from './collaboration-files.ts'

export type CollaborationFileOptions = {
  readonly engine: Engine
  readonly journal: Journal
  readonly index: IndexClient
  readonly caughtUp: () => Promise<void>
  readonly folder: string
  readonly onBug: (error: unknown, where: string) => void
}

/** The files of workflows, made from the journal and the index. */
export const openCollaborationFiles = (options: CollaborationFileOptions): CollaborationFiles => {
  const { index, caughtUp } = options
  return new CollaborationFiles({
    ...options,
    clock: systemClock,
    async row(id) {
      await caughtUp()
      return (await index.ask('findSessions', id, 1))[0]
    },
    file: (row) => exportSession(options, row),
    names: (row) => namesOf(index, row),
  })
}
