import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import type { Directory } from './directory.ts'

/** Where the conversation of a session is written, and in whose words; of one from outside by what is known of it. */
export async function recordOf(
  { directory, engine, observer }: { directory: Directory; engine: Engine; observer: Observer },
  row: SessionRow,
): Promise<{ cli: AgentCliName; path: string | undefined }> {
  const cli = (row.cli ?? 'custom') as AgentCliName
  if (row.origin === 'observed') {
    await observer.wanted()
    return { cli, path: (await engine.known(row.sessionId))?.managed?.transcript }
  }
  const { transcript } = directory.live(row)
  await transcript.settled()
  return { cli, path: transcript.paths()[0] }
}

/** What is only looked at cannot be told anything. */
export const onlyObserved = ({ friendlyName, name, shortId }: SessionRow): AppError =>
  new AppError(
    'conflict',
    `${friendlyName ?? name ?? shortId} runs outside of Muster and is only looked at; quit it there, then: sm adopt ${shortId}`,
  )
