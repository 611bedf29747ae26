import { AppError } from '../../contract/errors.ts'
import type { TextCommand } from '../command-module.ts'
import { answerData } from '../talk/answer-data.ts'
import { askOnce, noAnswer } from '../talk/ask-once.ts'
import { shortOf } from '../talk/begin-session.ts'
import { textInput } from '../text-input.ts'

export const ask: TextCommand<'ask'> = {
  text: async function* ({ agent, prompt, session, mode, model, keep, timeout }, io) {
    const text = await textInput(prompt, undefined, io)
    if (text === undefined || text.trim() === '')
      throw new AppError('invalid', 'there is nothing to ask; give a prompt, or - for standard input')
    const client = await (await io.daemon()).client()
    const asked = { agent, session, mode, model, keep, text, timeout }
    const { begun, answer, ended } = yield* askOnce(client, asked, io)
    if (io.isJson) yield `${JSON.stringify(answerData(begun, answer, ended), null, 2)}\n`
    if (ended.status !== 'completed') throw noAnswer(begun, ended, timeout)
    if (begun.isNew && keep) io.say(`It stays open: sm chat --session ${shortOf(begun)}`)
  },
}
