import { join } from 'node:path'
import {
  type Foreign,
  foreign,
  foreignCount,
  foreignLine,
  foreignList,
  foreignText,
  foreignTime,
  told,
} from '../../contract/formats/foreign-json.ts'
import type { Signal } from '../../contract/signal.ts'
import type {
  Conversation,
  TranscriptContext,
  TranscriptFile,
  TranscriptMemory,
} from '../../ports/agent-cli.ts'
import { namesIn, openPlain, recordIn } from '../system/foreign-files.ts'
import { piFailure, piTool } from './pi-hooks.ts'

/** What one line of a pi session file tells. */
export function piLine(line: string, context: TranscriptContext): readonly Signal[] {
  const record = foreignLine(line)
  const at = foreignTime(record?.['timestamp'])
  if (!record || at === undefined) return []
  const { memory } = context
  const seen = told({ source: 'transcript' as const, at, agent: context.agent })
  switch (record['type']) {
    case 'session':
      return opening(record, memory, seen)
    case 'message':
      return message(foreign(record['message']), { id: foreignText(record['id']), memory, seen })
    case 'compaction':
      return [{ ...seen, kind: 'compacted', ...told({ before: foreignCount(record['tokensBefore']) }) }]
    default:
      return []
  }
}

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

type Entry = { readonly id: string | undefined; readonly memory: TranscriptMemory; readonly seen: Seen }

function opening(record: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const id = foreignText(record['id'])
  if (id === undefined) return []
  memory['session'] = id
  return [{ ...seen, kind: 'ready', foreignId: id, ...told({ cwd: foreignText(record['cwd']) }) }]
}

function message(said: Foreign, entry: Entry): readonly Signal[] {
  const { seen } = entry
  const text = textOf(said['content'])
  switch (said['role']) {
    case 'user':
      return [
        {
          ...seen,
          kind: 'prompt',
          origin: 'person',
          ...told({ text: text || undefined, promptId: entry.id }),
        },
      ]
    case 'assistant':
      return [
        ...(text === '' ? [] : [{ ...seen, kind: 'text', text, ...told({ messageId: entry.id }) } as const]),
        ...piUsage(said, entry),
        ...calls(said, seen),
        ...ending(said, text, seen),
      ]
    case 'toolResult':
      return result(said, text, seen)
    default:
      return []
  }
}

const calls = (said: Foreign, seen: Seen): readonly Signal[] =>
  foreignList(said['content']).flatMap((item) => {
    const { type, id, name, arguments: input } = foreign(item)
    const [callId, tool] = [foreignText(id), foreignText(name)]
    if (type !== 'toolCall' || callId === undefined || tool === undefined) return []
    return [{ ...seen, kind: 'tool-start', callId, tool: piTool(tool), ...told({ input }) }]
  })

function ending(said: Foreign, text: string, seen: Seen): readonly Signal[] {
  switch (said['stopReason']) {
    case 'aborted':
      return [{ ...seen, kind: 'interrupted' }]
    case 'error':
      return [piFailure(foreignText(said['errorMessage']), seen)]
    case 'stop':
    case 'length':
      return [{ ...seen, kind: 'turn-end', background: 0, ...told({ text: text || undefined }) }]
    default:
      return []
  }
}

function result(said: Foreign, text: string, seen: Seen): readonly Signal[] {
  const [callId, tool] = [foreignText(said['toolCallId']), foreignText(said['toolName'])]
  if (callId === undefined) return []
  const ok = said['isError'] !== true
  const error = ok ? undefined : text.slice(0, 2000) || 'the tool failed'
  const known = told({ tool: tool && piTool(tool), output: text || undefined, error })
  return [{ ...seen, kind: 'tool-end', callId, ok, ...known }]
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : foreignList(content)
        .flatMap((part) =>
          foreign(part)['type'] === 'text' ? (foreignText(foreign(part)['text']) ?? []) : [],
        )
        .join('\n')

/** The tokens of an answer; pi counts cached input apart already, and one that was cut off has none. */
function piUsage(said: Foreign, { id, memory, seen }: Entry): readonly Signal[] {
  const usage = foreign(said['usage'])
  const [input, output] = [foreignCount(usage['input']), foreignCount(usage['output'])]
  if (input === undefined || output === undefined) return []
  const [cacheRead, cacheWrite] = [
    foreignCount(usage['cacheRead']) ?? 0,
    foreignCount(usage['cacheWrite']) ?? 0,
  ]
  const total = foreignCount(usage['totalTokens']) ?? input + output + cacheRead + cacheWrite
  const responseId =
    foreignText(said['responseId']) ?? (id && `pi:${foreignText(memory['session']) ?? ''}:${id}`)
  if (total === 0 || responseId === undefined) return []
  return [
    {
      ...seen,
      kind: 'usage',
      responseId,
      model: foreignText(said['model']) ?? 'unknown',
      usage: { input, output, cacheRead, cacheWrite, total },
      ...told({ finishReason: foreignText(said['stopReason']) }),
    },
  ]
}

/** The session file of a conversation; its name ends with the id. */
export async function piTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const { foreignId, transcript, env } = conversation
  if (foreignId === undefined) return []
  const end = `_${foreignId}.jsonl`
  // pi keeps it wherever its settings or arguments say, and writes it with the first answer, not when it tells its name.
  if (transcript?.endsWith(end)) {
    const path = await recordIn('/', transcript)
    return path && (await isOf(path, foreignId)) ? [{ path }] : []
  }
  const home = env['PI_CODING_AGENT_DIR'] || join(env['HOME'] ?? '/', '.pi', 'agent')
  const root = env['PI_CODING_AGENT_SESSION_DIR'] || join(home, 'sessions')
  for (const folder of [root, ...(await namesIn(root)).map((name) => join(root, name))])
    for (const name of await namesIn(folder)) {
      const path = name.endsWith(end) ? await recordIn(root, join(folder, name)) : undefined
      if (path) return [{ path }]
    }
  return []
}

/** The first line says whose conversation it is. */
async function isOf(path: string, foreignId: string): Promise<boolean> {
  const handle = await openPlain(path)
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0)
    const head = foreignLine(buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0] ?? '')
    return head?.['type'] === 'session' && head['id'] === foreignId
  } finally {
    await handle.close()
  }
}
