import { AppError } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import type { SessionRow } from '../../contract/index-rows.ts'
import type { SessionView } from '../../contract/session-views.ts'
import type { Sessions } from '../../engine/sessions/sessions.ts'
import type { Directory } from './directory.ts'

type How = Parameters<Sessions['kill']>[1]
type Deps = { readonly directory: Directory; readonly sessions: Sessions }

/** Ends a session and all below it, deepest first, also those that are started meanwhile and what was left of others. */
export async function killTree(
  { directory, sessions }: Deps,
  row: SessionRow,
  how: How,
): Promise<{ killed: SessionView[]; left: number[] }> {
  const ending = new Map<SessionId, Promise<readonly number[]>>()
  // Ends are written one by one, the deepest first; programs get their grace all at the same time.
  const end = async ({ sessionId }: SessionRow): Promise<boolean> => {
    if (ending.has(sessionId)) return false
    const live = await sessions.settled(sessionId)
    if (live) ending.set(sessionId, (await sessions.kill(live, how)).done)
    return live !== undefined
  }
  const endBelow = async (): Promise<boolean> => {
    let hadAny = false
    for (const each of (await directory.below(row, true)).toReversed()) hadAny = (await end(each)) || hadAny
    return hadAny
  }
  await endBelow()
  await end(row)
  // One that was just being started may have begun another; once its end is written it cannot any more.
  while (await endBelow());
  const left = (await Promise.all(ending.values())).flat()
  const family = [row, ...(await directory.below(row, true))].map(({ sessionId }) => sessionId)
  const cleared = await sessions.clear(new Set(family))
  if (ending.size === 0 && cleared.length === 0)
    throw new AppError(
      'conflict',
      `${row.name ?? row.shortId} has no running program; it is ${row.lifecycle}`,
    )
  const views = await Promise.all(Array.from(ending.keys(), (id) => directory.find(id)))
  return { killed: await directory.views(views), left }
}
