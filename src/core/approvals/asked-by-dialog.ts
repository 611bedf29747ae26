import { AppError } from '../../contract/errors.ts'
import { askedQuestions } from '../../contract/formats/asked-questions.ts'
import type { AskedQuestion, Dialog, SignalOf } from '../../contract/signal.ts'
import { dialogText, showsCommand, showsText } from './approval-card.ts'

type Call = SignalOf<'tool-start'>

/** What a dialog asks of which no hook told, as after a restart: its own words, and what its call says beyond them. */
export function askedByDialog(dialog: Dialog, calls: readonly Call[], at: number): SignalOf<'asking'> {
  return {
    kind: 'asking',
    source: 'pane',
    at,
    ask: dialog.kind as SignalOf<'asking'>['ask'],
    detail: dialogText(dialog),
    ...(dialog.kind === 'question' && { questions: questionsOf(dialog, calls) }),
    ...(dialog.kind === 'permission' && permittedCall(dialog, calls)),
  }
}

/**
 * The call that a permission is about, by which it is known what was allowed before. Of several that run it could be
 * any: what an agent says of one call may look like another.
 */
function permittedCall(dialog: Dialog, calls: readonly Call[]): Partial<SignalOf<'asking'>> | undefined {
  const [only, ...others] = calls
  if (!only || others.length > 0 || !showsCommand(dialog, only.input)) return undefined
  return { tool: only.tool, callId: only.callId, input: only.input }
}

/** All that is asked: a screen shows one question of several, their call has them all. */
function questionsOf(dialog: Dialog, calls: readonly Call[]): readonly AskedQuestion[] {
  const asked = calls
    .map(({ input }) => askedQuestions(input))
    .findLast((questions) => questions.some(({ question }) => showsText(dialog, question)))
  if (asked) return asked
  const { title, body, options, isMany = false, headings = [] } = dialog
  const question = body?.split('\n').at(-1) ?? title
  const shown = { question, options: options.map((label) => ({ label })), isMany }
  return headings.length > 1
    ? headings.map((header) => ({ question: header, header, options: [], isMany: false }))
    : [shown]
}

/** Keys answer the one question that is on the screen with one of its choices; the others would be left without a word. */
export function refuseSeveral(questions: readonly AskedQuestion[]): void {
  const isOne = questions.length <= 1 && questions.every(({ isMany }) => !isMany)
  if (isOne) return
  const asked = questions.map(({ question }) => `"${question}"`).join(', ')
  throw new AppError(
    'conflict',
    `it asks ${asked}; this CLI takes several questions or several choices only in its own terminal, so nothing was answered; answer all of it there: sm attach`,
  )
}

/** Whether an answer is asked for, not only a look. */
export const isQuestion = ({ kind }: Dialog): boolean =>
  kind === 'permission' || kind === 'question' || kind === 'plan'
