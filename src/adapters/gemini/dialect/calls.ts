import {
  type Foreign,
  foreign,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptMemory } from '../../../ports/agent-cli.ts'
import { geminiTool } from './tools.ts'

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

const ended = new Set(['success', 'error', 'cancelled'])
/** So many calls are remembered as told: those of the last message that was written twice are among them. */
const remembered = 100

/** The tool calls of a message, each told once: it is written again whenever one of them is done. */
export function geminiCalls(record: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  return foreignList(record['toolCalls']).flatMap((item) => {
    const call = foreign(item)
    const [callId, name] = [foreignText(call['id']), foreignText(call['name'])]
    const status = foreignText(call['status']) ?? ''
    if (callId === undefined || name === undefined) return []
    const tool = geminiTool(name)
    const start: readonly Signal[] = isNew(memory, `start ${callId}`)
      ? [{ ...seen, kind: 'tool-start', callId, tool, ...told({ input: call['args'] }) }]
      : []
    if (!ended.has(status) || !isNew(memory, `end ${callId}`)) return start
    const at = foreignTime(call['timestamp']) ?? seen.at
    const output = resultOf(call['result'])
    const exit = shellFailure(tool, output)
    const ok = status === 'success' && exit === undefined
    const error = ok ? undefined : (exit ?? output ?? status)
    return [...start, { ...seen, at, kind: 'tool-end', callId, tool, ok, ...told({ output, error }) }]
  })
}

/** A command that failed is a success of the tool; its exit code stands in the words for the model. */
export function shellFailure(tool: string, output: string | undefined): string | undefined {
  const code = tool === 'Bash' && output ? /^Exit Code: (?!0$)(\d+)$/m.exec(output)?.[1] : undefined
  return code === undefined ? undefined : `exit code ${code}`
}

function isNew(memory: TranscriptMemory, mark: string): boolean {
  const marks = foreignList(memory['calls'])
  if (marks.includes(mark)) return false
  memory['calls'] = [...marks, mark].slice(-remembered)
  return true
}

const resultOf = (result: unknown): string | undefined => {
  const { output, error } = foreign(foreign(foreign(foreignList(result)[0])['functionResponse'])['response'])
  return foreignText(output) ?? foreignText(error)
}
