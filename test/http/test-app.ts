import { AppError } from '../../src/contract/errors.ts'
import type { Principal } from '../../src/contract/principal.ts'
import type { Api } from '../../src/contract/routes.ts'
import { type HttpDeps, httpApp } from '../../src/http/app.ts'
import { liveHub } from '../../src/http/live.ts'
import { loadPage } from '../../src/http/page.ts'
import { type MemoryJournal, memoryJournal } from '../support/memory-journal.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { sampleSession } from './sample-events.ts'

export const port = 4100
export const origin = `http://127.0.0.1:${port}`
export const tokens = { operator: 'operator-token', session: 'mst_session-token', browser: 'browser-token' }

const principals: Record<string, Principal> = {
  [tokens.operator]: { kind: 'operator', channel: 'cli' },
  [tokens.browser]: { kind: 'operator', channel: 'browser' },
  [tokens.session]: { kind: 'session', sessionId: sampleSession(1) },
}

/** A handler for every route that refuses, so that a test gives only those it looks at. */
export const noApi = new Proxy({} as Api, {
  get: (_, name) => async () => {
    throw new AppError('failed', `reached ${String(name)}`)
  },
})

/** What a test may look at besides the answers. */
export type TestApp = ReturnType<typeof httpApp> & {
  readonly journal: MemoryJournal
  readonly clock: ManualClock
  readonly live: ReturnType<typeof liveHub>
  readonly bugs: unknown[]
}

/** The server with a journal in memory and a clock that stands still. */
export function testApp(given: Partial<HttpDeps> = {}): TestApp {
  const journal = memoryJournal()
  const clock = manualClock()
  const live = liveHub()
  const bugs: unknown[] = []
  const codes = new Map([['good-code', tokens.browser]])
  const app = httpApp({
    api: noApi,
    journal,
    clock,
    live,
    limits: { heartbeatMs: 15_000, stallMs: 30_000, maxClients: 64 },
    address: { port: () => port },
    authenticate: (token) => principals[token],
    redeem: (code) => {
      const token = codes.get(code)
      codes.delete(code)
      return token
    },
    page: loadPage(),
    sees: (principal, id) => principal.kind === 'session' && principal.sessionId === id,
    topOf: (id) => id,
    maxBodyBytes: 100_000,
    onBug: (error) => bugs.push(error),
    ...given,
  })
  return { ...app, journal, clock, live, bugs }
}

/** Sends one request as a program on this machine would: a person's, where the test does not say whose. */
export function ask(app: Pick<TestApp, 'request'>, path: string, init: AskInit = {}): Promise<Response> {
  const { via, ...rest } = init
  const isProved = Object.keys(rest.headers ?? {}).some((name) => /^(authorization|cookie)$/.test(name))
  const proof = isProved ? {} : bearer(tokens.operator)
  const headers = { host: `127.0.0.1:${port}`, ...proof, ...rest.headers }
  return Promise.resolve(app.request(path, { ...rest, headers: clean(headers) }, { via: via ?? 'tcp' }))
}

export type AskInit = {
  readonly method?: string
  readonly headers?: Record<string, string | undefined>
  readonly body?: string | ReadableStream
  readonly duplex?: 'half'
  readonly signal?: AbortSignal
  readonly via?: 'tcp' | 'unix'
}

const clean = (headers: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
