import type { Client } from '../../client/client.ts'
import type { Answer as AnswerData } from '../../contract/cli/talk-outputs.ts'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import { type SessionId, shortId } from '../../contract/short-id.ts'
import type { TextCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { Answer } from '../talk/answer.ts'
import { answerData } from '../talk/answer-data.ts'
import { type Aside, openAside } from '../talk/aside.ts'
import { type Begun, beginSession } from '../talk/begin-session.ts'
import { type Ending, exchange } from '../talk/exchange.ts'
import { openEar } from '../talk/open-ear.ts'
import { textInput } from '../text-input.ts'

export const ask: TextCommand<'ask'> = {
  text: async function* (input, io) {
    const text = await textInput(input.prompt, undefined, io)
    if (text === undefined || text.trim() === '')
      throw new AppError('invalid', 'there is nothing to ask; give a prompt, or - for standard input')
    const client = await (await io.daemon()).client()
    const startedAt = io.now()
    const { agent, session, mode, model } = input
    const begun = await beginSession(client, { cwd: io.cwd, agent, session, mode, model }, io.signal)
    const aside = openAside({ client, io, sessionId: begun.sessionId })
    const answer = new Answer()
    const asking: Asking = { client, io, begun, aside, answer, timeout: input.timeout }
    const ending = yield* heardAnswer(asking, text)
    aside.clear()
    const end = answer.lineEnd()
    if (end !== '' && !io.isJson) yield end
    const { status, ...more } = ending ?? { status: await stopped(asking) }
    if (begun.isNew && !input.keep && status !== 'timeout')
      await close(client, { sessionId: begun.sessionId, status, said: ending?.detail || answer.text })
    const ended = { ...more, status, durationMs: io.now() - startedAt }
    if (io.isJson) yield `${JSON.stringify(answerData(begun, answer, ended), null, 2)}\n`
    if (status !== 'completed') throw refusal(asking, status, ending?.detail ?? '')
    if (begun.isNew && input.keep) io.say(`It stays open: sm chat --session ${short(begun)}`)
  },
}

type Asking = {
  readonly client: Client
  readonly io: Io
  readonly begun: Begun
  readonly aside: Aside
  readonly answer: Answer
  readonly timeout: number | undefined
}

/** The words of the answer as they come; its ending, or nothing when somebody or the time ended the waiting. */
async function* heardAnswer(asking: Asking, text: string): AsyncGenerator<string, Ending | undefined> {
  const { client, io, begun, aside, answer, timeout } = asking
  const { sessionId, agent } = begun
  using stop = linked(io.signal)
  const { signal } = stop
  if (timeout !== undefined)
    void io.sleep(timeout * 1000, signal).then(
      () => stop.abort(),
      () => {},
    )
  const ear = await openEar(client, { sessionId, signal, onRetry: ({ message }) => aside.lost(message) })
  try {
    const onSaid = (messageId: string) => {
      answer.messageId = messageId
    }
    const saying = { cwd: io.cwd, sessionId, agent, text, onSaid }
    const heard = exchange(client, ear, { saying, signal })
    for (let read = await heard.next(); ; read = await heard.next()) {
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
    await ear.return(undefined)
  }
}

/** The waiting was ended: by a person, then so is the run; or by the time, then the agent works on. */
async function stopped({ client, io, begun, answer }: Asking): Promise<'cancelled' | 'timeout'> {
  if (!io.signal.aborted) return 'timeout'
  if (answer.runId !== undefined) await client.cancelAgent({ run_id: answer.runId as never })
  else if (answer.messageId !== undefined && !begun.isNew)
    await client.dismissMessage({ message: answer.messageId })
  io.say(`Cancelled: ${begun.agent} was told to stop.`)
  return 'cancelled'
}

type Closing = { readonly sessionId: string; readonly status: AnswerData['status']; readonly said: string }

const closings = {
  completed: 'completed',
  failed: 'error',
  cancelled: 'abandoned',
  timeout: 'abandoned',
} as const
const longestClosing = 2000

/** A session that was begun for one answer is over with it; one that somebody else ended is over already. */
async function close(client: Client, { sessionId, status, said }: Closing): Promise<void> {
  const message = said.slice(0, longestClosing)
  try {
    await client.completeSession({
      id: sessionId,
      status: closings[status],
      ...(message !== '' && { message }),
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
}

function refusal({ begun, timeout }: Asking, status: AnswerData['status'], detail: string): AppError {
  if (status === 'timeout')
    return new AppError(
      'timeout',
      `no answer after ${timeout} s; ${begun.agent} works on: sm chat --session ${short(begun)}`,
    )
  const why = detail === '' ? '' : `: ${detail}`
  return new AppError('failed', `${begun.agent} ${status === 'failed' ? 'failed' : 'was stopped'}${why}`)
}

const short = ({ sessionId }: Begun): string => shortId(sessionId as SessionId)
