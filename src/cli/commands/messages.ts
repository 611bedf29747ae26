import type { Client } from '../../client/client.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import { answeringMs, anyQuestion, joinedAnswer } from '../../contract/question-answers.ts'
import type { MessageView } from '../../contract/session-views.ts'
import { defineCommands } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import type { Io } from '../io.ts'
import { textInput } from '../named-files.ts'
import { given } from '../parse-values.ts'
import { renderApprovals, renderDecision } from '../render/approvals.ts'
import { isTaken, renderMessages, renderSent } from '../render/messages.ts'
import { oneLine } from '../render/safe-text.ts'
import { cut } from '../render/text-width.ts'

// Most messages are taken within a moment; one that has a reason to wait is not waited for.
const graceMs = 2000

/** Speaking with sessions: messages, and answers to what they ask. */
export const messageCommands = defineCommands({
  send: {
    run: async function* (input, io) {
      const text = await textInput(input.text, input.file, io)
      if (text === undefined || text === '')
        throw new AppError('invalid', 'the message is empty; give a text, or - to read standard input')
      const client = await (await io.daemon()).client()
      const refused: unknown[] = []
      for (const id of targetsOf(input.sessions)) {
        try {
          const message = { id, text, mode: modeOf(input) }
          const sent = await client.sendMessage(message, { signal: io.signal, timeoutMs: answeringMs })
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
  },
  messages: {
    asks: ({ session, failed, limit }, io) => ({
      id: sessionMeant(session, io),
      limit,
      ...given({ failed }),
    }),
    render: renderMessages,
  },
  'messages dismiss': {
    asks: ({ message }) => ({ message }),
    render: ({ session_id, preview }, { width }) =>
      cut(`Withdrawn from session ${session_id}: ${oneLine(preview.slice(0, 400))}`, width),
  },
  approvals: {
    asks: ({ session, all }) => ({ limit: 1000, ...given({ session, all }) }),
    render: renderApprovals,
  },
  approve: {
    run: async ({ id, always, session, answer }, io) => {
      if (always && session) throw new AppError('invalid', 'use --always or --session, not both')
      const scope = always ? 'always' : session ? 'session' : 'once'
      const client = await (await io.daemon()).client()
      const { seq } = await client.health({}, { signal: io.signal })
      const decided = await client.decideApproval(
        { id, verdict: 'allow', scope, ...(answer.length > 0 && { answers: answersOf(answer) }) },
        { signal: io.signal, timeoutMs: answeringMs },
      )
      if (decided.subject === 'land')
        io.say(await landed(client, { session: decided.session_id, after: seq }, io))
      return decided
    },
    render: renderDecision,
  },
  reject: {
    asks: ({ id, reason }) => ({ id, verdict: 'deny', ...given({ reason }) }),
    timeoutMs: answeringMs,
    render: renderDecision,
  },
})

const landingMs = 120_000

/** Waits until the work has landed, and says where; what is in the way is a refusal. */
async function landed(
  client: Client,
  { session, after }: { readonly session: string; readonly after: number },
  io: Io,
): Promise<string> {
  const until = io.now() + landingMs
  while (io.now() < until) {
    const { events } = await client.listEvents({ session, after, limit: 500 }, { signal: io.signal })
    const intended = events.find(({ type }) => type === 'effect.intended')?.payload as Intended | undefined
    const done = events.find(({ type }) => type === 'effect.done')?.payload as Done | undefined
    const commit = done?.receipt?.landed
    const { target, detail } = intended ?? {}
    if (commit)
      return `Landed ${oneLine(detail?.branch ?? 'the work')} on ${oneLine(target ?? 'its branch')} (${commit.slice(0, 7)}) in ${oneLine(detail?.dir ?? '')}`
    if (done)
      throw new AppError(
        'conflict',
        `it did not land: ${done.receipt?.why ?? 'no reason was given'}; fix that and approve again`,
      )
    await io.sleep(100)
  }
  throw new AppError(
    'timeout',
    `it has not landed after ${landingMs / 1000} s; see: sm workflow show ${session}`,
  )
}

type Intended = {
  readonly target?: string
  readonly detail?: { readonly branch?: string; readonly dir?: string }
}
type Done = { readonly receipt?: { readonly landed?: string | null; readonly why?: string } }

function targetsOf(sessions: string): string[] {
  const targets = [...new Set(sessions.split(',').map((target) => target.trim()))].filter(Boolean)
  if (targets.length === 0) throw new AppError('invalid', 'name a session; sm all lists them')
  return targets
}

function modeOf({ urgent, important }: CommandInput<'send'>): MessageView['mode'] {
  if (urgent && important) throw new AppError('invalid', 'use --important or --urgent, not both')
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

/** Labels by their question; one without a question is for the only one there is. Repeated, they are several choices. */
function answersOf(labels: readonly string[]): Record<string, string> {
  const chosen = new Map<string, string[]>()
  for (const text of labels) {
    const at = text.indexOf('=')
    const question = at === -1 ? anyQuestion : text.slice(0, at).trim()
    chosen.set(question, [...(chosen.get(question) ?? []), text.slice(at + 1).trim()])
  }
  return Object.fromEntries([...chosen].map(([question, each]) => [question, joinedAnswer(each)]))
}
