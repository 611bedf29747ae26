import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import { shortId } from '../../contract/short-id.ts'
import type { LoopMode } from '../../contract/values.ts'
import { isEnded, titleOf } from '../render/session-lines.ts'

/** Which session is spoken with: one that is there, or a new one with an agent. */
export type Wanted = {
  readonly cwd: string
  readonly agent: string | undefined
  readonly session: string | undefined
  readonly mode: LoopMode | undefined
  readonly model: string | undefined
}

/** A session that can be listened to before anything is said in it. */
export type Begun = { readonly sessionId: string; readonly agent: string; readonly isNew: boolean }

/** The digits by which people name it. */
export const shortOf = ({ sessionId }: Pick<Begun, 'sessionId'>): string => shortId(sessionId as SessionId)

/** Begins a session with nothing said yet, or looks up the one that is named. */
export async function beginSession(client: Client, wanted: Wanted, signal: AbortSignal): Promise<Begun> {
  const { cwd, agent, session, mode, model } = wanted
  if (session !== undefined) return known(client, { ...wanted, session }, signal)
  // A change of mode begins a session and starts nobody.
  const first = mode ?? (await client.getSettings({ project_root: cwd }, { signal })).mode
  const begun = await client.chat(
    {
      project_root: cwd,
      message: `/mode ${first}`,
      ...(agent !== undefined && { agent_id: agent }),
      ...(mode !== undefined && { mode }),
      ...(model !== undefined && { model }),
    },
    { signal },
  )
  return { sessionId: begun.session_id, agent: begun.agent_id, isNew: true }
}

async function known(
  client: Client,
  { cwd, agent, session, mode, model }: Wanted & { readonly session: string },
  signal: AbortSignal,
): Promise<Begun> {
  if (model !== undefined)
    throw new AppError('invalid', '--model is for a new session; this one has its model already')
  const found = await client.getSession({ id: session }, { signal })
  if (found.origin !== 'runtime')
    throw new AppError('conflict', `${titleOf(found)} is not a session of built-in agents; use: sm send`)
  if (isEnded(found))
    throw new AppError('conflict', `${titleOf(found)} has ended; leave out --session to start a new one`)
  if (mode !== undefined)
    await client.chat({ project_root: cwd, session_id: found.id, message: `/mode ${mode}` }, { signal })
  return { sessionId: found.id, agent: agent ?? found.agent_type ?? 'lead', isNew: false }
}
