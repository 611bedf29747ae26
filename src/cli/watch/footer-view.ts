import type { ApprovalView } from '../../contract/session-views.ts'
import { type Colour, type Paint, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { isAgent } from '../render/session-lines.ts'
import { textWidth } from '../render/text-width.ts'
import { questionsOf, takesWords, verdictWords } from '../tui/approval-questions.ts'
import { editorLine } from '../tui/line-editor.ts'
import { lineOf, type Piece } from '../tui/lines.ts'
import { approvalOf, type Card, isOffered, pendingOf, type WatchModel } from './model.ts'
import { selectedRow } from './selection.ts'

/** The two last lines: what is typed or told, and what the keys do. */
export function footerLines(model: WatchModel): [string, string] {
  const paint = painter(model.color)
  return [tellLine(model, paint), hintLine(model, paint)]
}

function tellLine(model: WatchModel, paint: Paint): string {
  const { mode, size, note, offline } = model
  switch (mode.kind) {
    case 'reply':
      return editorLine([' reply to ', [mode.name, 'bold'], ' › '], mode.line, { width: size.columns, paint })
    case 'search':
      return editorLine([' /'], mode.line, { width: size.columns, paint })
    case 'words':
      return editorLine([mode.isAnswer ? ' your answer › ' : ' deny, because › '], mode.line, {
        width: size.columns,
        paint,
      })
    case 'kill':
      return lineOf(
        [[` press x again to end ${killed(model, mode)}, any other key to keep it`, 'bold', 'red']],
        size.columns,
        paint,
      )
    case 'card':
      if (mode.card.armed !== undefined)
        return lineOf(
          [[` high risk: press ${mode.card.armed} again to allow it`, 'bold', 'red']],
          size.columns,
          paint,
        )
      break
    case 'list':
    case 'overlay':
  }
  if (note !== undefined)
    return lineOf([[` ${oneLine(note.text)}`, ...tones[note.tone]]], size.columns, paint)
  return lineOf(offline === undefined ? [] : [[` ${oneLine(offline)}`, 'red']], size.columns, paint)
}

const tones: Readonly<Record<'good' | 'bad' | 'plain', readonly Colour[]>> = {
  good: ['green'],
  bad: ['red'],
  plain: [],
}

function killed({ sessions }: WatchModel, { id, name }: { id: string; name: string }): string {
  const parents = new Set([sessions.find((session) => session.id === id)?.session_id])
  let below = 0
  // Parents come before their children only by chance, so it goes round until nobody is added.
  for (let before = -1; before !== parents.size; ) {
    before = parents.size
    for (const { session_id, parent_session_id } of sessions)
      if (parent_session_id !== null && parents.has(parent_session_id)) parents.add(session_id)
    below = parents.size - 1
  }
  return below === 0 ? name : `${name} and the ${below} below it`
}

type Hint = readonly [key: string, does: string]

/** The last line: what the keys do now, as far as there is room. */
function hintLine(model: WatchModel, paint: Paint): string {
  const { columns: width } = model.size
  const room = width - 1
  let shown = hintsOf(model)
  // What is rarely needed goes first, whole: half a hint is none.
  for (const key of dispensable) if (hintsWidth(shown) > room) shown = shown.filter((hint) => hint[0] !== key)
  while (hintsWidth(shown) > room) shown = shown.slice(0, -1)
  const pieces = shown.flatMap(([key, does], i): Piece[] => [
    [i === 0 ? ' ' : '  '],
    [key, 'bold', 'cyan'],
    [` ${does}`, 'dim'],
  ])
  return lineOf(pieces, width, paint)
}

const dispensable = ['f', 'e', 'a', 'i', '/', 'o']

const hintsWidth = (hints: readonly Hint[]): number =>
  hints.reduce((sum, [key, does]) => sum + textWidth(key) + 1 + textWidth(does) + 2, -2)

function hintsOf(model: WatchModel): readonly Hint[] {
  const { mode } = model
  switch (mode.kind) {
    case 'list':
      return listHints(model)
    case 'search':
      return [
        ['enter', 'keep'],
        ['esc', 'show all'],
        ['↑↓', 'move'],
      ]
    case 'reply':
    case 'words':
      return [
        ['enter', 'send'],
        ['esc', 'cancel'],
      ]
    case 'kill':
      return [
        ['x', 'end it'],
        ['esc', 'keep it'],
      ]
    case 'card':
      return cardHints(model, mode.card)
    case 'overlay':
      return [
        ['esc', 'back'],
        ['j k', 'scroll'],
      ]
  }
}

const agentHints = [
  ['x', 'kill'],
  ['o', 'peek'],
  ['f', 'fold'],
] as const

function listHints(model: WatchModel): readonly Hint[] {
  const session = selectedRow(model)?.session
  const asks = session && pendingOf(model, session.session_id)
  return [
    ...(session === undefined
      ? []
      : isAgent(session)
        ? agentHints
        : ([
            ...(asks ? ([['y', asks.subject === 'question' ? 'answer' : 'decide']] as const) : []),
            ['enter', session.origin === 'runtime' ? 'chat' : 'attach'],
            ['space', 'reply'],
            ...(asks ? [] : ([['i', 'interrupt']] as const)),
            ['x', 'kill'],
            ['o', 'peek'],
            ['e', 'explain'],
            ['f', 'fold'],
          ] as const)),
    ['/', 'find'],
    ['?', 'help'],
    ['q', 'quit'],
  ]
}

function cardHints(model: WatchModel, card: Card): readonly Hint[] {
  const approval = approvalOf(model, card)
  if (approval === undefined) return [['esc', 'back']]
  const question = questionsOf(approval)[card.step]
  if (question !== undefined)
    return [
      ...(question.options.length === 0
        ? []
        : ([[`1-${Math.min(9, question.options.length)}`, question.isMany ? 'mark' : 'choose']] as const)),
      ...(question.isMany ? ([['enter', 'answer']] as const) : []),
      ...(takesWords(approval) ? ([['space', 'own words']] as const) : []),
      ['n', 'decline'],
      ['esc', 'back'],
    ]
  return decisionHints(approval)
}

function decisionHints(approval: ApprovalView): readonly Hint[] {
  const words = verdictWords(approval)
  return [
    ['y', words.yes],
    ...(isOffered(approval, 'session') ? ([['s', 'this session']] as const) : []),
    ...(isOffered(approval, 'always') ? ([['a', 'always']] as const) : []),
    ['n', words.no],
    ['r', `${words.no}, with a reason`],
    ['esc', 'back'],
  ]
}
