import type { Client } from '../../client/client.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { MessageView } from '../../contract/session-views.ts'
import type { DataCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { isTaken, renderSent } from '../render/messages.ts'
import { textInput } from '../text-input.ts'

// Most messages are taken within a moment; one that has a reason to wait is not waited for.
const graceMs = 2000

export const send: DataCommand<'send'> = {
  run: async function* (input, io) {
    const text = await textInput(input.text, input.file, io)
    if (text === undefined || text === '')
      throw new AppError('invalid', 'there is nothing to send; give a text, or - for standard input')
    const client = await (await io.daemon()).client()
    const refused: unknown[] = []
    for (const id of targetsOf(input.sessions)) {
      try {
        const sent = await client.sendMessage({ id, text, mode: modeOf(input) }, { signal: io.signal })
        yield await settled(client, { sent, wait: input.wait }, io)
      } catch (error) {
        // One that is not there must not keep the words from the others.
        if (!(error instanceof AppError) || error.code === 'unavailable') throw error
        if (refused.push(error) > 1) io.say(`sm: ${error.message}`)
      }
    }
    if (refused.length > 0) throw refused[0]
  },
  render: renderSent,
  exitCode: ({ state }) => (state === 'failed' ? errorCodes.failed.exit : 0),
}

function targetsOf(sessions: string): string[] {
  const targets = [...new Set(sessions.split(',').map((target) => target.trim()))].filter(Boolean)
  if (targets.length === 0) throw new AppError('invalid', 'name a session; sm all lists them')
  return targets
}

function modeOf({ urgent, important }: CommandInput<'send'>): MessageView['mode'] {
  if (urgent && important) throw new AppError('invalid', '--important and --urgent exclude each other')
  return urgent ? 'urgent' : important ? 'important' : 'sequential'
}

type Sending = { readonly sent: MessageView; readonly wait: number | undefined }

/** The message once its fate is known, or after the time that was given to it. */
async function settled(client: Client, { sent, wait }: Sending, io: Io): Promise<MessageView> {
  const deadline = io.now() + (wait === undefined ? graceMs : wait * 1000)
  let message = sent
  for (let pauseMs = 50; isOpen(message, wait !== undefined); pauseMs = Math.min(pauseMs * 2, 1000)) {
    const leftMs = deadline - io.now()
    if (leftMs <= 0) {
      if (wait === undefined) return message
      throw new AppError('timeout', `not accepted after ${wait} s. ${renderSent(message)}`)
    }
    await io.sleep(Math.min(pauseMs, leftMs))
    message = await client.getMessage({ message: message.message_id }, { signal: io.signal })
  }
  return message
}

function isOpen(message: MessageView, isPatient: boolean): boolean {
  if (isTaken(message) || message.state === 'failed') return false
  return isPatient || message.state !== 'queued' || message.detail === null
}
