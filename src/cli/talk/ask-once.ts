import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { Io } from '../io.ts'
import type { Ended } from './answer.ts'
import { type Begun, beginSession, shortOf, type Wanted } from './begin-session.ts'
import { type Answered, hearAnswer } from './hear-answer.ts'

/** One thing that a built-in agent is asked. */
export type Asked = Omit<Wanted, 'cwd'> & {
  readonly text: string
  readonly timeout?: number | undefined
  /** Leaves a session open that was begun for it. */
  readonly keep?: boolean | undefined
}

/** Asks, gives the words of the answer as they come, and closes the session again that was begun for it. */
export async function* askOnce(
  client: Client,
  { text, timeout, keep, ...wanted }: Asked,
  io: Io,
): AsyncGenerator<string, Answered & { readonly begun: Begun }> {
  const begun = await beginSession(client, { cwd: io.cwd, ...wanted }, io.signal)
  const isOnlyForThis = begun.isNew && !keep
  try {
    const answered = yield* hearAnswer({ client, io, begun, text, timeout })
    const closing = closingOf(answered)
    if (isOnlyForThis && closing) await close(client, begun, closing)
    return { begun, ...answered }
  } catch (error) {
    // What was refused was said to nobody: an empty session would stay.
    if (isOnlyForThis && error instanceof AppError && errorCodes[error.code].exit === 2)
      await close(client, begun, { status: 'abandoned', said: error.message })
    throw error
  }
}

/** Why there is no answer. */
export function noAnswer(begun: Begun, { status, detail }: Ended, timeout: number | undefined): AppError {
  if (status === 'timeout')
    return new AppError(
      'timeout',
      `no answer after ${timeout} s; ${begun.agent} keeps working: sm chat --session ${shortOf(begun)}`,
    )
  const why = detail ? `: ${detail}` : ''
  return new AppError('failed', `${begun.agent} ${status === 'failed' ? 'failed' : 'was stopped'}${why}`)
}

const closings = { completed: 'completed', failed: 'error', cancelled: 'abandoned' } as const
const longestClosing = 2000

type Closing = { readonly status: (typeof closings)[keyof typeof closings]; readonly said: string }

/** How a session ends with its answer; nothing when the agent works on. */
function closingOf({ answer, ended: { status, detail } }: Answered): Closing | undefined {
  return status === 'timeout' ? undefined : { status: closings[status], said: detail || answer.text }
}

/** A session that was begun for one answer is over with it; one that somebody else ended is over already. */
async function close(client: Client, { sessionId: id }: Begun, { status, said }: Closing): Promise<void> {
  const message = said.slice(0, longestClosing)
  try {
    await client.completeSession({ id, status, ...(message !== '' && { message }) })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
}

const agent = 'summarizer'
const timeout = 120
const entriesAtMost = 40
const entryChars = 1500

/** Has a model say what a session is about; what it costs stands with the session in which it was asked. */
export async function summarize(
  client: Client,
  { known, model }: { known: CommandOutput<'what'>; model: string },
  io: Io,
): Promise<CommandOutput<'what'>> {
  const { signal } = io
  const { entries } = await client.getTranscript({ id: known.session_id, limit: entriesAtMost }, { signal })
  const said = entries.map(({ who, text }) => `[${who}] ${text.slice(0, entryChars)}`)
  const text = `What is known about it: ${known.summary}\n\nThe end of its conversation:\n\n${said.join('\n\n')}`
  const asking = askOnce(client, { agent, model, text, timeout, session: undefined, mode: 'chat' }, io)
  let step = await asking.next()
  while (!step.done) step = await asking.next()
  const { begun, answer, ended } = step.value
  if (ended.status !== 'completed') throw noAnswer(begun, ended, timeout)
  return { ...known, summary: answer.text, made_by: `${agent} on ${model}, session ${shortOf(begun)}` }
}
