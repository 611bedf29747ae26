import type { Client } from '../client/client.ts'
import type { RouteInput } from '../contract/routes.ts'
import type { SessionView } from '../contract/session-views.ts'

const largestPage = 1000

/** All sessions that fit a filter, newest first, in as many pages as it takes, and how many ended ones it leaves out. */
export async function listSessions(
  client: Client,
  filter: Omit<RouteInput<'listSessions'>, 'before' | 'limit'>,
  signal: AbortSignal,
): Promise<{ sessions: SessionView[]; hidden: number }> {
  const found: SessionView[] = []
  let left: number | undefined
  let before: number | undefined
  do {
    const page = { ...filter, limit: largestPage, ...(before === undefined ? {} : { before }) }
    const { sessions, next, hidden } = await client.listSessions(page, { signal })
    found.push(...sessions)
    left ??= hidden
    before = next ?? undefined
  } while (before !== undefined)
  return { sessions: found, hidden: left }
}

/** The open sessions of a folder besides one, oldest first. */
export async function othersIn(
  client: Client,
  { folder, besides }: { readonly folder: string; readonly besides: SessionView | undefined },
  signal: AbortSignal,
): Promise<SessionView[]> {
  const { sessions } = await listSessions(client, { open: true, working_dir: folder }, signal)
  return sessions.filter(({ id }) => id !== besides?.id).reverse()
}
