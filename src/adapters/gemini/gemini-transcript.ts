import { promises as fs } from 'node:fs'
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
import type { Signal, SignalOf } from '../../contract/signal.ts'
import type {
  Conversation,
  TranscriptContext,
  TranscriptFile,
  TranscriptMemory,
} from '../../ports/agent-cli.ts'
import { missing, namesIn, openPlain, recordIn } from '../system/foreign-files.ts'
import { geminiHome } from './gemini-home.ts'
import { geminiTool, shellFailure } from './gemini-hooks.ts'

/** What one line of a Gemini chat file tells. Patches (`$set`) repeat what stood on earlier lines. */
export function geminiLine(line: string, context: TranscriptContext): readonly Signal[] {
  const record = foreignLine(line)
  if (!record) return []
  if (record['type'] === undefined && record['sessionId'] !== undefined) return opening(record, context)
  notePatch(record, context.memory)
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
      if (textOf(record['content']) === 'Request cancelled.') return [{ ...seen, kind: 'interrupted' }]
      return isCompaction(record, context.memory) ? [{ ...seen, kind: 'compacted' }] : []
    case 'error':
      return [geminiFailure(textOf(record['content']), seen)]
    default:
      return []
  }
}

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

/** All messages are written again where a conversation begins, and where it is made shorter; an entry without words tells when. */
function notePatch(record: Foreign, memory: TranscriptMemory): void {
  const isWhole = foreign(record['$set'])['messages'] !== undefined
  const isWord = record['type'] === 'user' || record['type'] === 'gemini'
  if (isWord) memory['began'] = true
  if (isWord || isWhole) memory['rewritten'] = isWhole && memory['began'] === true
}

function isCompaction(record: Foreign, memory: TranscriptMemory): boolean {
  const isTold = memory['rewritten'] === true && textOf(record['content']) === ''
  if (isTold) memory['rewritten'] = false
  return isTold
}

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

const ended = new Set(['success', 'error', 'cancelled'])
/** So many calls are remembered as told: those of the last message that was written twice are among them. */
const remembered = 100

/** The tool calls of a message, each told once: it is written again whenever one of them is done. */
function geminiCalls(record: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
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

/** The tokens of a message. Thoughts are counted beside the output there, and cached input within the input. */
function geminiUsage(
  record: Foreign,
  memory: TranscriptMemory,
  { id, ...seen }: Seen & { readonly id: string },
): readonly Signal[] {
  const tokens = foreign(record['tokens'])
  const [input, output] = [foreignCount(tokens['input']), foreignCount(tokens['output'])]
  if (input === undefined || output === undefined) return []
  const [cacheRead, reasoning] = [foreignCount(tokens['cached']) ?? 0, foreignCount(tokens['thoughts']) ?? 0]
  const tool = foreignCount(tokens['tool']) ?? 0
  // Written again with the same figures when its tools are done, and with others when it was not whole before.
  const figures = `${id} ${[input, output, cacheRead, reasoning, tool].join(' ')}`
  if (memory['counted'] === figures) return []
  memory['counted'] = figures
  return [
    {
      ...seen,
      kind: 'usage',
      responseId: id,
      model: foreignText(record['model']) ?? 'unknown',
      usage: {
        input: Math.max(0, input - cacheRead) + tool,
        output: output + reasoning,
        cacheRead,
        cacheWrite: 0,
        reasoning,
        total: foreignCount(tokens['total']) ?? input + output + reasoning + tool,
      },
    },
  ]
}

/** A request that failed; the provider's status is somewhere in its text. */
function geminiFailure(error: string, seen: Seen): SignalOf<'turn-failed'> {
  const code = /"code":\s*(\d{3})\b/.exec(error)?.[1] ?? /\bstatus:? (\d{3})\b/.exec(error)?.[1]
  const status = code === undefined ? undefined : Number(code)
  const isLimit = status === 429 || /RESOURCE_EXHAUSTED|quota/i.test(error)
  return {
    ...seen,
    kind: 'turn-failed',
    error: error || 'the request failed',
    ...told({ status, limit: isLimit ? {} : undefined }),
  }
}

/** The chat file of a conversation, and its subagents' in a folder named by its id beside it. */
export async function geminiTranscripts(conversation: Conversation): Promise<readonly TranscriptFile[]> {
  const { foreignId, transcript, env } = conversation
  if (foreignId === undefined) return []
  const home = geminiHome(env)
  const told = transcript?.endsWith(endOf(foreignId)) ? transcript : undefined
  // The way that Gemini tells leads through the session's own folder, which does not outlive the session.
  const own = told && (await isThere(told)) ? told : await ownFile(home, foreignId)
  const path = own && (await recordIn(join(home, 'tmp'), own))
  if (!path || !(await isOf(path, foreignId))) return []
  const folder = join(path, '..', foreignId)
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.jsonl'))
  const agents = names.toSorted().map((name) => {
    const agent = name.slice(0, -'.jsonl'.length)
    return { path: join(folder, name), agent, agentType: 'subagent' }
  })
  return [{ path }, ...agents]
}

const isThere = (path: string): Promise<boolean> =>
  fs.access(path).then(
    () => true,
    () => false,
  )

const endOf = (foreignId: string): string => `-${foreignId.slice(0, 8)}.jsonl`

async function ownFile(home: string, foreignId: string): Promise<string | undefined> {
  const root = await fs.realpath(join(home, 'tmp')).catch(missing)
  for (const project of root === undefined ? [] : await namesIn(root)) {
    const chats = join(root ?? '', project, 'chats')
    const names = (await namesIn(chats)).filter((name) => name.startsWith('session-'))
    for (const name of names.filter((one) => one.endsWith(endOf(foreignId))).toReversed())
      if (await isOf(join(chats, name), foreignId)) return join(chats, name)
  }
  return undefined
}

/** The name has only the first part of the id in it; the first line has all of it. */
async function isOf(path: string, foreignId: string): Promise<boolean> {
  const handle = await openPlain(path)
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0)
    return buffer.toString('utf8', 0, bytesRead).includes(`"sessionId":"${foreignId}"`)
  } finally {
    await handle.close()
  }
}
