import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { Io } from '../io.ts'
import { askOnce, noAnswer } from './ask-once.ts'
import { shortOf } from './begin-session.ts'

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
  const text = `What is known of it: ${known.summary}\n\nThe end of its conversation:\n\n${said.join('\n\n')}`
  const asking = askOnce(client, { agent, model, text, timeout, session: undefined, mode: 'chat' }, io)
  let step = await asking.next()
  while (!step.done) step = await asking.next()
  const { begun, answer, ended } = step.value
  if (ended.status !== 'completed') throw noAnswer(begun, ended, timeout)
  return { ...known, summary: answer.text, made_by: `${agent} on ${model}, session ${shortOf(begun)}` }
}
