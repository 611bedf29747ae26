import { foreignJson } from '../../contract/formats/foreign-json.ts'
import type { RouteOutput } from '../../contract/routes.ts'
import { subjectOf } from '../../contract/tool-subject.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { toolRow } from '../talk/tool-row.ts'
import { fold } from '../tui/lines.ts'
import { type ChatModel, roomOf } from './model.ts'

const indent = '  '

/** What a person said, as it stays on the screen. */
export function saidLines(model: ChatModel, text: string): string[] {
  const paint = painter(model.color)
  const lines = fold(text, roomOf(model) - indent.length)
  return ['', ...lines.map((line, i) => `${i === 0 ? paint('cyan', '› ') : indent}${paint('bold', line)}`)]
}

/** A line of an agent's words: marked where a turn begins, and by name when another agent speaks. */
export function wordLine(
  model: ChatModel,
  line: string,
  { isFirst, agent }: { readonly isFirst: boolean; readonly agent: string },
): string {
  const paint = painter(model.color)
  if (!isFirst) return `${indent}${line}`
  const name = agent === model.agent ? '' : `${paint('cyan', agent)}: `
  return `${paint('cyan', '◆ ')}${name}${line}`
}

/** What is told about the conversation and is no part of it. */
export const asideLines = (
  model: ChatModel,
  text: string,
  tone: 'dim' | 'red' | 'yellow' = 'dim',
): string[] =>
  fold(text, roomOf(model) - indent.length).map((line) => `${indent}${painter(model.color)(tone, line)}`)

/** A question and the answer that it was given. */
export function answerLines(model: ChatModel, question: string, answer: string): string[] {
  const paint = painter(model.color)
  const width = roomOf(model) - indent.length
  return [
    ...fold(question, width).map((line) => `${indent}${paint('yellow', line)}`),
    ...fold(answer, width).map(
      (line, i) => `${i === 0 ? paint('cyan', '› ') : indent}${paint('bold', line)}`,
    ),
  ]
}

type Entry = RouteOutput<'getTranscript'>['entries'][number]

const mostLines = 12

/** The end of an earlier conversation, as it would stand on the screen. */
export function pastLines(model: ChatModel, entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => entryLines(model, entry))
}

function entryLines(model: ChatModel, { who, text }: Entry): string[] {
  if (who === 'user') return saidLines(model, shortened(text))
  if (who === 'tool') return callLines(model, text)
  if (who === 'task') return []
  const lines = fold(shortened(text), roomOf(model) - 2)
  return ['', ...lines.map((line, i) => wordLine(model, line, { isFirst: i === 0, agent: model.agent }))]
}

/** A call by its tool and what it was called on; how it went wrong is an entry of its own. */
function callLines(model: ChatModel, text: string): string[] {
  const paint = painter(model.color)
  const width = roomOf(model) - 2
  const [, result, reason] = /^(failed|denied): (.*)$/s.exec(text) ?? []
  if (result === 'failed' || result === 'denied')
    return asideLines(model, `✗ ${result}: ${oneLine(reason ?? '')}`, 'red')
  const at = text.indexOf(' ')
  const target = subjectOf(paramsOf(text.slice(at + 1)))
  const tool = at === -1 ? text : text.slice(0, at)
  return [`  ${toolRow({ tool, ...(target !== undefined && { target }) }, { width, paint })}`]
}

function paramsOf(json: string): Record<string, unknown> | undefined {
  // A long one was cut; its tool is enough.
  const value = foreignJson(json)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

function shortened(text: string): string {
  const lines = text.trim().split('\n')
  return lines.length <= mostLines ? lines.join('\n') : [...lines.slice(0, mostLines), '…'].join('\n')
}
