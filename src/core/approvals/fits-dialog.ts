import type { Dialog, SignalOf } from '../../contract/signal.ts'
import { subjectOf } from './card.ts'

/** Whether a dialog on the screen is the one that asks this, and no other that happens to stand there. */
export function fitsDialog(signal: SignalOf<'asking'>, dialog: Dialog): boolean {
  if (dialog.kind !== signal.ask) return false
  if (signal.source === 'pane') return dialogText(dialog) === signal.detail
  const shown = squeezed(dialogText(dialog))
  return provable(signal).every((text) => {
    const said = squeezed(text)
    // A long command is shown by its beginning or by its end.
    return shown.includes(said.slice(0, most)) || shown.includes(said.slice(-most))
  })
}

/** Whether a dialog shows a command, whole and in lines of its own. */
export function showsCommand({ body = '' }: Dialog, input: unknown): boolean {
  if (typeof input !== 'object' || input === null || !('command' in input)) return false
  const command = squeezed(String(input.command))
  const lines = body.split('\n').map(squeezed)
  return (
    command !== '' &&
    lines.some((_, from) => lines.some((_, to) => lines.slice(from, to + 1).join('') === command))
  )
}

/** All words of a dialog but its choices. */
export const dialogText = ({ title, body }: Dialog): string => (body ? `${title}\n${body}` : title)

const most = 120

/** What a dialog about this must show. */
function provable({ ask, questions, input }: SignalOf<'asking'>): readonly string[] {
  if (ask === 'question') return questions?.slice(0, 1).map(({ question }) => question) ?? []
  if (ask === 'plan' || typeof input !== 'object' || input === null) return []
  const given = input as Record<string, unknown>
  const path = given['file_path']
  return [typeof path === 'string' ? (path.split('/').at(-1) ?? path) : subjectOf(given)]
}

const squeezed = (text: string): string => text.replaceAll(/[\s│┃╭╮╰╯─]/g, '')
