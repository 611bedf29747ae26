import {
  type Foreign,
  foreign,
  foreignCount,
  foreignLine,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptMemory } from '../../../ports/agent-cli.ts'
import { askedQuestions } from '../../system/asked-questions.ts'
import { codexTool } from './tools.ts'

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

/** What an output begins with when the call did not run; there is no other sign in it. */
const failures =
  /^(exec_command failed|unsupported |unable to |Command blocked by|failed |error:|apply_patch )/i
const exited = /^Process exited with code (\d+)$/m

/** A call the model made: it is open until the first line that tells how it went. */
export function callStart(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const [callId, name] = [foreignText(item['call_id']), nameOf(item)]
  if (callId === undefined || name === undefined) return []
  const [tool, input] = [codexTool(name), inputOf(item)]
  memory['open'] = { ...foreign(memory['open']), [callId]: tool }
  const start: Signal = { ...seen, kind: 'tool-start', callId, tool, ...told({ input }) }
  const questions = name === 'request_user_input' ? askedQuestions(input) : []
  if (questions.length === 0) return [start]
  return [start, { ...seen, kind: 'asking', ask: 'question', tool, callId, questions }]
}

/** The answer that went back to the model. */
export function callOutput(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const output = item['output']
  const text = typeof output === 'string' ? output : undefined
  const code = text === undefined ? undefined : exited.exec(text)?.[1]
  const isFailed = text !== undefined && failures.test(text)
  const ok = code === undefined ? !isFailed && foreign(output)['success'] !== false : code === '0'
  return close(foreignText(item['call_id']), memory, (callId, tool) => ({
    ...seen,
    kind: 'tool-end',
    callId,
    tool,
    ok,
    ...told({ output, error: ok ? undefined : text?.slice(0, 2000) }),
  }))
}

/** A finished command, with the exit code that the answer to the model has only as words. */
export function commandEnd(item: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const code = foreignCount(item['exit_code'])
  const { secs, nanos } = foreign(item['duration'])
  const ok = code === 0
  return close(foreignText(item['id']), memory, (callId, tool) => ({
    ...seen,
    kind: 'tool-end',
    callId,
    tool,
    ok,
    durationMs: (foreignCount(secs) ?? 0) * 1000 + (foreignCount(nanos) ?? 0) / 1e6,
    ...told({
      output: foreignText(item['aggregated_output']),
      error: ok ? undefined : `exit code ${code ?? 'unknown'}`,
    }),
  }))
}

function close(
  callId: string | undefined,
  memory: TranscriptMemory,
  end: (callId: string, tool: string) => Signal,
): readonly Signal[] {
  const open = foreign(memory['open'])
  const tool = callId === undefined ? undefined : foreignText(open[callId])
  if (callId === undefined || tool === undefined) return []
  memory['open'] = Object.fromEntries(Object.entries(open).filter(([id]) => id !== callId))
  return [end(callId, tool)]
}

const nameOf = (item: Foreign): string | undefined =>
  foreignText(item['name']) ??
  (item['type'] === 'local_shell_call'
    ? 'shell'
    : item['type'] === 'web_search_call'
      ? 'web_search'
      : undefined)

/** Hooks call the command of a shell `command`; the model's own argument is `cmd`. */
function inputOf(item: Foreign): unknown {
  const text = foreignText(item['arguments'])
  const input = text === undefined ? (item['input'] ?? item['action']) : (foreignLine(text) ?? text)
  const { cmd, ...rest } = foreign(input)
  return typeof cmd === 'string' ? { command: cmd, ...rest } : input
}
