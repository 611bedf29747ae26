import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import type { TextCommand } from '../command-module.ts'
import { answerData, type Ended } from '../talk/answer-data.ts'
import { type Begun, beginSession, shortOf } from '../talk/begin-session.ts'
import { type Answered, hearAnswer } from '../talk/hear-answer.ts'
import { textInput } from '../text-input.ts'

export const ask: TextCommand<'ask'> = {
  text: async function* ({ agent, prompt, session, mode, model, keep, timeout }, io) {
    const text = await textInput(prompt, undefined, io)
    if (text === undefined || text.trim() === '')
      throw new AppError('invalid', 'there is nothing to ask; give a prompt, or - for standard input')
    const client = await (await io.daemon()).client()
    const begun = await beginSession(client, { cwd: io.cwd, agent, session, mode, model }, io.signal)
    const answered = yield* hearAnswer({ client, io, begun, text, timeout })
    const { answer, ended } = answered
    if (begun.isNew && !keep) await close(client, begun, answered)
    if (io.isJson) yield `${JSON.stringify(answerData(begun, answer, ended), null, 2)}\n`
    if (ended.status !== 'completed') throw refusal(begun, ended, timeout)
    if (begun.isNew && keep) io.say(`It stays open: sm chat --session ${shortOf(begun)}`)
  },
}

const closings = { completed: 'completed', failed: 'error', cancelled: 'abandoned' } as const
const longestClosing = 2000

/** A session that was begun for one answer is over with it; one that somebody else ended is over already. */
async function close(client: Client, { sessionId: id }: Begun, { answer, ended }: Answered): Promise<void> {
  if (ended.status === 'timeout') return
  const message = (ended.detail || answer.text).slice(0, longestClosing)
  try {
    await client.completeSession({
      id,
      status: closings[ended.status],
      ...(message !== '' && { message }),
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
}

function refusal(begun: Begun, { status, detail }: Ended, timeout: number | undefined): AppError {
  if (status === 'timeout')
    return new AppError(
      'timeout',
      `no answer after ${timeout} s; ${begun.agent} works on: sm chat --session ${shortOf(begun)}`,
    )
  const why = detail ? `: ${detail}` : ''
  return new AppError('failed', `${begun.agent} ${status === 'failed' ? 'failed' : 'was stopped'}${why}`)
}
