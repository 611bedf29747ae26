import type { ApprovalView } from '../../contract/session-views.ts'
import type { Paint } from '../render/paint.ts'
import { textWidth } from '../render/text-width.ts'
import { lineOf, type Piece } from './ink.ts'
import type { Card, WatchModel } from './model.ts'
import { approvalOf, isOffered, pendingOf } from './pending.ts'
import { questionsOf } from './questions.ts'
import { selectedRow } from './selection.ts'

type Hint = readonly [key: string, does: string]

/** The last line: what the keys do now, as far as there is room. */
export function hintLine(model: WatchModel, paint: Paint): string {
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

function listHints(model: WatchModel): readonly Hint[] {
  const session = selectedRow(model)?.session
  const asks = session && pendingOf(model, session.session_id)
  return [
    ...(session === undefined
      ? []
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
      ['space', 'own words'],
      ['n', 'decline'],
      ['esc', 'back'],
    ]
  return decisionHints(approval)
}

function decisionHints(approval: ApprovalView): readonly Hint[] {
  return [
    ['y', approval.options.includes('once') ? 'allow once' : 'approve'],
    ...(isOffered(approval, 'session') ? ([['s', 'this session']] as const) : []),
    ...(isOffered(approval, 'always') ? ([['a', 'always']] as const) : []),
    ['n', approval.options.includes('deny') ? 'deny' : 'reject'],
    ['r', 'deny + reason'],
    ['esc', 'back'],
  ]
}
