import { painter } from '../render/paint.ts'
import { fold } from '../watch/fit.ts'
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
