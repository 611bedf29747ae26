import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Observer } from '../../engine/observe/observer.ts'
import type { Parts } from '../../engine/sessions/parts.ts'
import type { Directory } from './directory.ts'

/** What reading a conversation needs; no terminal. */
export type Looking = Pick<Parts, 'clis' | 'files'> & { readonly env: Readonly<Record<string, string>> }

type Places = {
  readonly directory: Directory
  readonly engine: Engine
  readonly observer: Observer
  readonly looking: Looking
}

/** Where the conversation of a session is written, and in whose words; of one from outside by what is known of it. */
export async function recordOf(
  { directory, engine, observer, looking }: Places,
  row: SessionRow,
): Promise<{ cli: AgentCliName; path: string | undefined }> {
  const cli = (row.cli ?? 'custom') as AgentCliName
  if (row.origin === 'observed') {
    await observer.wanted()
    return { cli, path: (await engine.known(row.sessionId))?.managed?.transcript }
  }
  const transcript = directory.followed(row)?.transcript
  await transcript?.settled()
  if (transcript) return { cli, path: transcript.paths()[0] }
  // Nobody follows it any more; its record is where its CLI keeps it.
  const managed = (await engine.known(row.sessionId))?.managed
  if (!managed) return { cli, path: undefined }
  const { workingDir, startedAtMs, foreignId, transcript: named } = managed
  const [first] = await looking.clis[cli].transcripts({
    workingDir,
    startedAtMs,
    env: looking.env,
    ...(foreignId && { foreignId }),
    ...(named && { transcript: named }),
  })
  return { cli, path: first?.path }
}

/** What is only looked at cannot be told anything. */
export const onlyObserved = ({ friendlyName, name, shortId }: SessionRow): AppError =>
  new AppError(
    'conflict',
    `${friendlyName ?? name ?? shortId} runs outside of Muster and is only looked at; quit it there, then: sm adopt ${shortId}`,
  )
