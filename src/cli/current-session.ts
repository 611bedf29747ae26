import type { Client } from '../client/client.ts'
import { AppError } from '../contract/errors.ts'
import { environmentNames } from '../contract/home.ts'
import type { SessionView } from '../contract/session-views.ts'
import type { Io } from './io.ts'

/** The session that this `sm` runs in, as its environment names it; nothing outside of one. */
export function currentSession(io: Pick<Io, 'env'>): string | undefined {
  return io.env[environmentNames.session] || undefined
}

/** The session that is meant: the one that was named, or else the one that this runs in. */
export function sessionMeant(named: string | undefined, io: Pick<Io, 'env'>): string {
  const session = named ?? currentSession(io)
  if (session !== undefined) return session
  throw new AppError('invalid', 'this is not inside a session; name one, sm all lists them')
}

/** The session that asks, seen by the daemon; nothing when a person asks from outside. */
export async function callerSession(
  client: Client,
  io: Pick<Io, 'env' | 'signal'>,
): Promise<SessionView | undefined> {
  const isInside = currentSession(io) !== undefined || Boolean(io.env[environmentNames.token])
  if (!isInside) return undefined
  return (await client.whoAmI({}, { signal: io.signal })).session ?? undefined
}

const longestName = 256
const longestValue = 128 * 1024

/** The environment that a session may take from; the daemon picks by its allow-list, but what proves who we are never leaves. */
export function callerEnvironment({ env, cwd }: Pick<Io, 'env' | 'cwd'>): Record<string, string> {
  const own: readonly string[] = [environmentNames.token, environmentNames.session]
  const kept = Object.entries({ ...env, PWD: cwd }).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      entry[0].length <= longestName &&
      entry[1].length <= longestValue &&
      !own.includes(entry[0]),
  )
  return Object.fromEntries(kept)
}
