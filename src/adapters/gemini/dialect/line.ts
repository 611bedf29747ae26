import {
  type Foreign,
  foreign,
  foreignLine,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptContext, TranscriptMemory } from '../../../ports/agent-cli.ts'
import { geminiCalls } from './calls.ts'
import { geminiFailure } from './failure.ts'
import { geminiUsage } from './usage.ts'

/** What one line of a Gemini chat file tells. Patches (`$set`) repeat what stood on earlier lines. */
export function geminiLine(line: string, context: TranscriptContext): readonly Signal[] {
  const record = foreignLine(line)
  if (!record) return []
  if (record['type'] === undefined && record['sessionId'] !== undefined) return opening(record, context)
  const [at, id] = [foreignTime(record['timestamp']), foreignText(record['id'])]
  if (at === undefined || id === undefined) return []
  const seen = told({ source: 'transcript' as const, at, agent: context.agent })
  switch (record['type']) {
    case 'user':
      return prompt(record, id, seen)
    case 'gemini':
      return [
        ...answer(record, context.memory, { ...seen, id }),
        ...geminiUsage(record, context.memory, { ...seen, id }),
        ...geminiCalls(record, context.memory, seen),
      ]
    case 'info':
      return textOf(record['content']) === 'Request cancelled.' ? [{ ...seen, kind: 'interrupted' }] : []
    case 'error':
      return [geminiFailure(textOf(record['content']), seen)]
    default:
      return []
  }
}

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

function opening(record: Foreign, { agent }: TranscriptContext): readonly Signal[] {
  const [at, id] = [foreignTime(record['startTime']), foreignText(record['sessionId'])]
  if (at === undefined || id === undefined) return []
  if (record['kind'] === 'subagent')
    return [{ source: 'transcript', at, kind: 'subagent-start', agentId: agent ?? id, agentType: 'subagent' }]
  return [{ source: 'transcript', at, kind: 'ready', foreignId: id }]
}

/** Tool results and the CLI's own introduction are written as messages of the user as well. */
function prompt(record: Foreign, id: string, seen: Seen): readonly Signal[] {
  const text = textOf(record['content'])
  if (text === '' || /^<(session_context|hook_context)>/.test(text)) return []
  const origin = seen.agent === undefined ? 'person' : 'task'
  return [{ ...seen, kind: 'prompt', origin, text, promptId: id }]
}

/** A message is written again when its tool calls are done; its words are told once. */
function answer(
  record: Foreign,
  memory: TranscriptMemory,
  { id, ...seen }: Seen & { id: string },
): readonly Signal[] {
  const text = textOf(record['content'])
  if (text === '' || memory['said'] === id) return []
  memory['said'] = id
  return [{ ...seen, kind: 'text', text, messageId: id }]
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : foreignList(content)
        .flatMap((part) => foreignText(foreign(part)['text']) ?? [])
        .join('\n')
