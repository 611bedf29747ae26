import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { MessageView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { age } from './figures.ts'
import { oneLine } from './safe-text.ts'
import { table } from './table.ts'

/** Whether a message has arrived as far as the session's program says. */
export function isTaken({ state }: MessageView): boolean {
  return state === 'accepted' || state === 'answered'
}

/** What became of a message that was sent. */
export function renderSent(message: MessageView): string {
  const { session_id, message_id, state, detail } = message
  const why = detail === null ? '' : `: ${oneLine(detail)}`
  if (isTaken(message)) return `Input sent to session ${session_id}`
  if (state === 'failed') return `Not delivered to session ${session_id} (${message_id})${why}`
  if (state === 'queued') return `Queued for session ${session_id} (${message_id})${why}`
  return `On its way to session ${session_id}, not accepted yet (${message_id})${why}`
}

/** Messages and their receipts, oldest first. */
export function renderMessages({ messages }: CommandOutput<'messages'>, { width, now }: View): string {
  if (messages.length === 0) return 'No messages.'
  const shown = table(
    messages,
    [
      { title: 'AGE', align: 'right', cell: ({ queued_at }) => age(queued_at, now) },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'MODE', cell: ({ mode }) => mode },
      { title: 'FROM', cell: ({ from }) => oneLine(from ?? '-') },
      {
        title: 'TEXT',
        isElastic: true,
        cell: ({ detail, preview }) =>
          oneLine(`${detail === null ? '' : `[${detail}] `}${preview}`.slice(0, 400)),
      },
    ],
    width,
  )
  const waiting = messages.filter(({ state }) => state === 'queued').map(({ message_id }) => message_id)
  if (waiting.length === 0) return shown
  return `${shown}\n\nWithdraw a queued message with:\n${waiting.map((id) => `  sm messages dismiss ${id}`).join('\n')}`
}
