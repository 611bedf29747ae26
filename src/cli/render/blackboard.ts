import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { age } from './durations.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { wrap } from './text-width.ts'

type Item = CommandOutput<'blackboard'>['items'][number]

const longest = 2000

/** What is shared: each item with its kind, who put it there and when, and what it says. */
export function renderBlackboard({ items }: CommandOutput<'blackboard'>, view: View): string {
  if (items.length === 0) return 'Nothing is shared.'
  return items.map((item) => renderItem(item, view)).join('\n\n')
}

function renderItem(item: Item, { width, now, color }: View): string {
  const paint = painter(color)
  const { id, type, content, source, confidence, version, conflicts, expires_at } = item
  const facts = [
    type,
    `by ${oneLine(source)}`,
    `${age(item.updated_at, now)} ago`.replace('now ago', 'now'),
    `version ${version}`,
    ...(confidence === null ? [] : [`${Math.round(confidence * 100)} % sure`]),
    ...(expires_at === null ? [] : [`until ${expires_at}`]),
  ]
  const clash = conflicts === 0 ? '' : ` | ${paint('yellow', `${conflicts} refused as too old`)}`
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '')
  return [
    `${paint('bold', oneLine(id))} | ${facts.join(' | ')}${clash}`,
    ...wrap(oneLine(text.slice(0, longest)), Math.max(20, width - 4)).map((line) => `    ${line}`),
  ].join('\n')
}
