import { type Colour, type Paint, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { editorLine } from './editor-view.ts'
import { hintLine } from './hints-view.ts'
import { lineOf } from './ink.ts'
import type { WatchModel } from './model.ts'

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
        [[` x again ends ${killed(model, mode)}; any other key keeps it`, 'bold', 'red']],
        size.columns,
        paint,
      )
    case 'card':
      if (mode.card.armed !== undefined)
        return lineOf(
          [[` high risk: ${mode.card.armed} again allows it`, 'bold', 'red']],
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
