import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { promises as fs } from 'node:fs'
import * as z from 'zod'
import { replaceFile } from '../adapters/system/durable-files.ts'
import { SessionId } from '../contract/ids.ts'
import type { Principal } from '../contract/principal.ts'
import type { Clock } from '../ports/clock.ts'

/** Who holds which right: the operator by a token file, sessions and browsers by tokens of which only hashes are kept. */
export type Authority = {
  authenticate(token: string): Principal | undefined
  /** A capability for a session: it may report for itself and manage what is below it. */
  grantSession(sessionId: SessionId): Promise<string>
  revokeSession(sessionId: SessionId): Promise<void>
  /** Calls back when a capability of a session is taken away: what was begun with it must end too. */
  onRevoked(listener: (sessionId: SessionId) => void): void
  /** Takes away the capabilities of all other sessions. */
  keepSessions(kept: ReadonlySet<SessionId>): Promise<void>
  /** A code that can be turned into a browser's token once, for a minute. */
  loginCode(): string
  redeem(code: string): Promise<string | undefined>
}

const Grants = z.array(z.object({ hash: z.string(), sessionId: SessionId.optional(), grantedAt: z.number() }))
type Grant = z.infer<typeof Grants>[number]

const codeLifeMs = 60_000
const maxCodes = 100

export async function openAuthority(
  files: { operatorToken: string; grants: string },
  clock: Clock,
): Promise<Authority> {
  const operator = hashOf(await operatorToken(files.operatorToken))
  const grants = new Map((await readGrants(files.grants)).map((grant) => [grant.hash, grant]))
  const codes = new Map<string, number>()
  const listeners: ((sessionId: SessionId) => void)[] = []
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  // One at a time, or an older list could be written last; whoever waits shares the next write.
  const save = (): Promise<void> => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        running = replaceFile(files.grants, JSON.stringify([...grants.values()]))
        return running
      })
    return next
  }
  const drop = (isDropped: (sessionId: SessionId) => boolean): boolean => {
    const before = grants.size
    for (const [hash, { sessionId }] of grants) {
      if (!sessionId || !isDropped(sessionId)) continue
      grants.delete(hash)
      for (const tell of listeners) tell(sessionId)
    }
    return grants.size !== before
  }
  const grant = async (token: string, sessionId?: SessionId): Promise<string> => {
    const hash = hashOf(token)
    grants.set(hash, { hash, grantedAt: clock.now(), ...(sessionId && { sessionId }) })
    await save()
    return token
  }
  return {
    authenticate(token) {
      const hash = hashOf(token)
      if (timingSafeEqual(Buffer.from(hash), Buffer.from(operator)))
        return { kind: 'operator', channel: 'cli' }
      const found = grants.get(hash)
      if (!found) return undefined
      return found.sessionId
        ? { kind: 'session', sessionId: found.sessionId }
        : { kind: 'operator', channel: 'browser' }
    },
    grantSession: (sessionId) => {
      // The one before it may be known to programs of an earlier start.
      drop((id) => id === sessionId)
      return grant(`mst_${secret()}`, sessionId)
    },
    async revokeSession(sessionId) {
      if (drop((id) => id === sessionId)) await save()
    },
    onRevoked: (listener) => void listeners.push(listener),
    async keepSessions(kept) {
      if (drop((id) => !kept.has(id))) await save()
    },
    loginCode() {
      const code = secret()
      codes.set(hashOf(code), clock.now() + codeLifeMs)
      const oldest = codes.size > maxCodes ? codes.keys().next().value : undefined
      if (oldest) codes.delete(oldest)
      return code
    },
    async redeem(code) {
      const hash = hashOf(code)
      const until = codes.get(hash)
      codes.delete(hash)
      return until !== undefined && clock.now() <= until ? grant(`mbr_${secret()}`) : undefined
    },
  }
}

const secret = (): string => randomBytes(32).toString('base64url')

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

async function operatorToken(path: string): Promise<string> {
  const existing = await readOrNothing(path)
  if (existing?.trim()) return existing.trim()
  const token = `mop_${secret()}`
  await replaceFile(path, `${token}\n`)
  return token
}

async function readGrants(path: string): Promise<Grant[]> {
  const text = await readOrNothing(path)
  return text === undefined ? [] : Grants.parse(JSON.parse(text))
}

const readOrNothing = (path: string): Promise<string | undefined> =>
  fs.readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
