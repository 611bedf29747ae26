import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { AppError } from '../../contract/errors.ts'
import type { Io } from '../io.ts'
import { plural } from '../render/amounts.ts'
import { answerData } from '../talk/answer-data.ts'
import { beginSession, shortOf, type Wanted } from '../talk/begin-session.ts'
import { hearAnswer } from '../talk/hear-answer.ts'

/** Says each line of an input and waits for its answer before the next one. */
export async function* pipeChat(io: Io, input: Readable, wanted: Wanted): AsyncGenerator<string> {
  const client = await (await io.daemon()).client()
  const begun = await beginSession(client, wanted, io.signal)
  const lines = createInterface({ input, signal: io.signal })
  let failed = 0
  for await (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    if (text === '/quit' || text === '/exit') break
    const { answer, ended } = yield* hearAnswer({ client, io, begun, text })
    if (io.isJson) yield `${JSON.stringify(answerData(begun, answer, ended))}\n`
    if (ended.status === 'completed') continue
    failed++
    io.say(`sm: ${begun.agent} ${ended.status}${ended.detail ? `: ${ended.detail}` : ''}`)
    if (io.signal.aborted) break
  }
  io.say(`The session stays: sm chat --session ${shortOf(begun)}`)
  if (failed > 0) throw new AppError('failed', `${plural(failed, 'message')} had no answer`)
}
