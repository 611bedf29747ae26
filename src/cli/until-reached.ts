import type { Client } from '../client/client.ts'
import { AppError } from '../contract/errors.ts'
import { linked } from '../contract/linked.ts'
import type { SessionDetail } from '../contract/session-views.ts'
import type { Io } from './io.ts'
import { ifReachable, news, stateEvents } from './news.ts'
import { isEnded, titleOf } from './render/session-lines.ts'

/** An end, or a turn that failed: nothing comes after either until somebody acts. */
const isStopped = (session: SessionDetail): boolean => isEnded(session) || session.status === 'failed'

/** What is waited for; what has stopped is never waited for. */
const goals = {
  complete: isStopped,
  idle: (session: SessionDetail) => isStopped(session) || session.status === 'idle',
  waiting: (session: SessionDetail) =>
    isStopped(session) || session.status === 'waiting_input' || session.waiting_for !== null,
} as const

/** Which sessions are waited for, until when, and whether the first one is enough. */
export type Waiting = {
  readonly sessions: readonly string[]
  readonly goal: keyof typeof goals
  readonly isAny: boolean
  /** Without one it is waited for ever. */
  readonly timeoutMs: number | undefined
}

/** Gives each session as it reaches what is waited for; time that runs out is a refusal that names the others. */
export async function* untilReached(
  client: Client,
  waiting: Waiting,
  io: Io,
): AsyncGenerator<SessionDetail, void, void> {
  const { signal } = io
  const { goal, isAny, timeoutMs } = waiting
  // The stream goes on from before the first look, so that no change falls between the two.
  const { seq } = await client.health({}, { signal })
  const look = (ids: Iterable<string>, until: AbortSignal) =>
    Promise.all([...ids].map((id) => client.getSession({ id }, { signal: until })))
  let open = await look(waiting.sessions, signal)
  const take = (): SessionDetail[] => {
    const reached = open.filter(goals[goal]).slice(0, isAny ? 1 : undefined)
    open = isAny && reached.length > 0 ? [] : open.filter((session) => !goals[goal](session))
    return reached
  }
  yield* take()
  if (open.length === 0) return
  using late = linked(signal)
  const timed: Io = { ...io, signal: late.signal }
  if (timeoutMs !== undefined) void ring(late, timeoutMs, io)
  try {
    for await (const _ of news(client, { after: seq, type: stateEvents.join(',') }, timed)) {
      const ids = open.map(({ id }) => id)
      open = (await ifReachable(look(ids, timed.signal))) ?? open
      yield* take()
      if (open.length === 0) return
    }
  } catch (error) {
    if (!late.signal.aborted || signal.aborted) throw error
  }
  throw stillOpen(open, timeoutMs)
}

async function ring(late: AbortController, ms: number, io: Io): Promise<void> {
  await io.sleep(ms, late.signal).catch(() => {})
  late.abort()
}

function stillOpen(open: readonly SessionDetail[], timeoutMs: number | undefined): AppError {
  const names = open.map((session) => `${titleOf(session)} is ${session.status}`).join(', ')
  const time = timeoutMs === undefined ? '' : ` after ${timeoutMs / 1000} s`
  return new AppError('timeout', `still waiting${time}: ${names}`)
}
