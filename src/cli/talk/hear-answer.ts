import type { Client } from '../../client/client.ts'
import { linked } from '../../contract/linked.ts'
import type { Io } from '../io.ts'
import { Answer } from './answer.ts'
import type { Ended } from './answer-data.ts'
import { openAside } from './aside.ts'
import type { Begun } from './begin-session.ts'
import { type Ending, exchange } from './exchange.ts'
import { openEar } from './open-ear.ts'

/** Something that an agent is asked, and how long its answer is waited for. */
export type Asking = {
  readonly client: Client
  readonly io: Io
  readonly begun: Begun
  readonly text: string
  readonly timeout?: number | undefined
}

/** An answer that came, or did not. */
export type Answered = { readonly answer: Answer; readonly ended: Ended }

/** Asks, and gives the words of the answer as they come; as data nothing is given before the end. */
export async function* hearAnswer(asking: Asking): AsyncGenerator<string, Answered> {
  const { io } = asking
  const startedAt = io.now()
  const answer = new Answer()
  const ending = yield* heard(asking, answer)
  const end = answer.lineEnd()
  if (end !== '' && !io.isJson) yield end
  const { status, ...more } = ending ?? { status: await stopped(asking, answer) }
  return { answer, ended: { ...more, status, durationMs: io.now() - startedAt } }
}

/** Until the answer has its end; nothing when a person or the time ended the waiting. */
async function* heard(asking: Asking, answer: Answer): AsyncGenerator<string, Ending | undefined> {
  const { client, io, begun, text, timeout } = asking
  const { sessionId, agent } = begun
  using stop = linked(io.signal)
  const { signal } = stop
  if (timeout !== undefined)
    void io.sleep(timeout * 1000, signal).then(
      () => stop.abort(),
      () => {},
    )
  const aside = openAside({ client, io, sessionId })
  const ear = await openEar(client, { sessionId, signal, onRetry: ({ message }) => aside.lost(message) })
  try {
    const onSaid = (messageId: string) => {
      answer.messageId = messageId
    }
    const saying = { cwd: io.cwd, sessionId, agent, text, onSaid }
    const told = exchange(client, ear, { saying, signal })
    for (let read = await told.next(); ; read = await told.next()) {
      if (read.done) return read.value
      const { out, row, status } = answer.hear(read.value)
      if (out !== undefined && out !== '' && !io.isJson) yield out
      if (read.value.kind === 'asked') await aside.asked()
      if (row !== undefined) aside.row(row, row.runId === answer.runId ? undefined : row.agent)
      if (status !== undefined && !answer.isMidLine) aside.status(status)
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    aside.clear()
    await ear.return(undefined)
  }
}

/** The waiting was ended: by a person, then so is the run; or by the time, then the agent works on. */
async function stopped(
  { client, io, begun }: Asking,
  { runId, messageId }: Answer,
): Promise<'cancelled' | 'timeout'> {
  if (!io.signal.aborted) return 'timeout'
  if (runId !== undefined) await client.cancelAgent({ run_id: runId as never })
  else if (messageId !== undefined && !begun.isNew) await client.dismissMessage({ message: messageId })
  io.say(`Cancelled: ${begun.agent} was told to stop.`)
  return 'cancelled'
}
