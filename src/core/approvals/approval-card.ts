import type * as z from 'zod'
import type { Dialog, SignalOf } from '../../contract/signal.ts'
import type { ApprovalSubject } from '../../contract/values.ts'
import { isRecord } from '../json/json-value.ts'

/** What a person sees before deciding. */
type Card = {
  readonly subject: z.infer<typeof ApprovalSubject>
  readonly action: string
  readonly reason?: string
  readonly scope?: unknown
  readonly diff?: string
  readonly risk: 'low' | 'medium' | 'high'
  readonly options: readonly string[]
}

const most = 16_000

/** The card of a question: the whole command or change, how risky it looks, and what can be answered. */
export function cardOf(signal: SignalOf<'asking'>): Card {
  if (signal.ask === 'question') return questionCard(signal)
  const input = isRecord(signal.input) ? signal.input : {}
  if (signal.ask === 'plan')
    return {
      subject: 'plan',
      action: textOf(input['plan']) ?? signal.detail ?? 'a plan',
      risk: 'low',
      options: ['approve', 'reject'],
    }
  const diff = diffOf(input)
  const description = textOf(input['description'])
  const reason = description ?? signal.detail
  return {
    subject: 'tool',
    action: actionOf(signal, input).slice(0, most),
    risk: riskOf(signal.tool ?? '', input),
    options: ['once', 'session', 'always', 'deny'],
    scope: input['file_path'] ?? input['path'] ?? input['cwd'],
    ...(reason !== undefined && { reason }),
    ...(diff !== undefined && { diff }),
  }
}

function questionCard(signal: SignalOf<'asking'>): Card {
  const questions = signal.questions ?? []
  return {
    subject: 'question',
    action: questions.map(({ question }) => question).join('\n') || signal.detail || 'a question',
    scope: questions,
    risk: 'low',
    options: questions[0]?.options.map(({ label }) => label) ?? [],
  }
}

/** Of a dialog that no hook told of, its own words are all there is. */
function actionOf({ tool, detail }: SignalOf<'asking'>, input: Readonly<Record<string, unknown>>): string {
  if (tool === undefined && detail !== undefined && Object.keys(input).length === 0) return detail
  return `${tool ?? 'a tool'}: ${callText(input)}`
}

/** What a call is about: its command, its file, else all of its input. */
export function callText(input: Readonly<Record<string, unknown>>): string {
  for (const name of ['command', 'file_path', 'filepath', 'path', 'url', 'pattern', 'query']) {
    const text = textOf(input[name])
    if (text !== undefined) return text
  }
  return JSON.stringify(input)
}

function diffOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const whole = textOf(input['diff'])
  if (whole !== undefined) return whole.slice(0, most)
  const [before, after] = [textOf(input['old_string']), textOf(input['new_string'])]
  if (before === undefined && after === undefined) return textOf(input['content'])?.slice(0, most)
  const marked = (text: string, sign: string) =>
    text
      .split('\n')
      .map((line) => `${sign}${line}`)
      .join('\n')
  return `${marked(before ?? '', '-')}\n${marked(after ?? '', '+')}`.slice(0, most)
}

/** Commands that cannot be taken back, reach other machines, or touch what others rely on. */
const dangerous =
  /\b(rm\s+-\w*[rf]|sudo|mkfs|dd\s+if=|chmod\s+(-R\s+)?777|git\s+push|git\s+reset\s+--hard|git\s+clean|branch\s+-D|drop\s+(table|database)|truncate\s+table|curl[^|]*\|\s*(ba)?sh|shutdown|reboot|kill(all)?\s|npm\s+publish)\b|>\s*\/dev\/sd|\.ssh\b|\.env\b/i
const writing = /^(Write|Edit|MultiEdit|NotebookEdit|apply_patch|write_file|replace)$/

export function riskOf(tool: string, input: Readonly<Record<string, unknown>>): Card['risk'] {
  const command = textOf(input['command'])
  if (command !== undefined) return dangerous.test(command) ? 'high' : 'medium'
  return writing.test(tool) ? 'medium' : 'low'
}

const textOf = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return value.map(String).join(' ')
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Whether a dialog on the screen is the one that asks this, and no other that happens to stand there. */
export function fitsDialog(signal: SignalOf<'asking'>, dialog: Dialog): boolean {
  if (dialog.kind !== signal.ask) return false
  if (signal.source === 'pane') return dialogText(dialog) === signal.detail
  return expectedTexts(signal).every((text) => showsText(dialog, text))
}

/** Whether a dialog shows a text; a long one is shown by its beginning or by its end. */
export function showsText(dialog: Dialog, text: string): boolean {
  const shown = squeezed(dialogText(dialog))
  const said = squeezed(text)
  return shown.includes(said.slice(0, mostCompared)) || shown.includes(said.slice(-mostCompared))
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

const mostCompared = 120

/** What a dialog about this must show. */
function expectedTexts({ ask, questions, input }: SignalOf<'asking'>): readonly string[] {
  if (ask === 'question') return questions?.slice(0, 1).map(({ question }) => question) ?? []
  if (ask === 'plan' || typeof input !== 'object' || input === null) return []
  const given = input as Record<string, unknown>
  const path = given['file_path']
  return [typeof path === 'string' ? (path.split('/').at(-1) ?? path) : callText(given)]
}

const squeezed = (text: string): string => text.replaceAll(/[\s│┃╭╮╰╯─]/g, '')
