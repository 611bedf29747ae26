import type { Client } from '../client/client.ts'
import type { RouteInput } from '../contract/routes.ts'
import type { SessionView } from '../contract/session-views.ts'

const largestPage = 1000

/** All sessions that fit a filter, newest first, in as many pages as it takes. */
export async function listSessions(
  client: Client,
  filter: Omit<RouteInput<'listSessions'>, 'before' | 'limit'>,
  signal: AbortSignal,
): Promise<SessionView[]> {
  const found: SessionView[] = []
  let before: number | undefined
  do {
    const page = { ...filter, limit: largestPage, ...(before === undefined ? {} : { before }) }
    const { sessions, next } = await client.listSessions(page, { signal })
    found.push(...sessions)
    before = next ?? undefined
  } while (before !== undefined)
  return found
}

/** The open sessions of a folder besides one, oldest first. */
export async function othersIn(
  client: Client,
  { folder, besides }: { readonly folder: string; readonly besides: SessionView | undefined },
  signal: AbortSignal,
): Promise<SessionView[]> {
  const found = await listSessions(client, { open: true, working_dir: folder }, signal)
  return found.filter(({ id }) => id !== besides?.id).reverse()
}
