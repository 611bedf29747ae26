import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ofKind, signalsOf } from '../../../test/support/screen-fixture.ts'
import { geminiLine, geminiTranscripts } from './gemini-transcript.ts'

const file = new URL('./fixtures/0.61.0-chat.jsonl', import.meta.url)
const signals = signalsOf(file, geminiLine)

test('[SM-86] a chat file tells of prompts, words, tools and ends; patches repeat nothing', () => {
  expect(signals.map(({ kind }) => kind)).toEqual([
    'ready',
    'prompt',
    'text',
    'usage',
    'tool-start',
    'tool-end',
    'tool-start',
    'tool-end',
    'text',
    'usage',
    'prompt',
    'interrupted',
    'prompt',
    'interrupted',
    'prompt',
    'turn-failed',
  ])
  expect(ofKind(signals, 'turn-failed')[0]).toMatchObject({ status: 400 })
})

test('[MUS-345] a conversation that is written anew and shorter was compacted', () => {
  const memory = {}
  const kinds = (...lines: readonly object[]) =>
    lines
      .flatMap((line) => geminiLine(JSON.stringify(line), { memory }))
      .filter(({ kind }) => kind === 'compacted')
  const timestamp = '2026-11-19T06:36:58.753Z'
  const rewritten = { $set: { messages: [{ id: 'm', timestamp, type: 'user', content: [{ text: 'all' }] }] } }
  const unsaid = { id: 'i', timestamp, type: 'info', content: '' }
  const said = { id: 'p', timestamp, type: 'user', content: [{ text: 'hello' }] }
  expect(kinds(rewritten, unsaid)).toEqual([])
  expect(kinds(said, unsaid)).toEqual([])
  expect(kinds(rewritten, said, unsaid)).toEqual([])
  expect(kinds(rewritten, { $set: { lastUpdated: timestamp } }, unsaid, unsaid)).toEqual([
    { kind: 'compacted', source: 'transcript', at: Date.parse(timestamp) },
  ])
})

test('[SM-86] a command that failed is no success, though the tool itself was one', () => {
  expect(ofKind(signals, 'tool-end').map(({ ok, error }) => [ok, error])).toEqual([
    [true, undefined],
    [false, 'exit code 1'],
  ])
})

test('[MUS-180] a message that is written again is counted once, and the last figures win', () => {
  const message = (tokens: object) =>
    JSON.stringify({
      id: 'm1',
      timestamp: '2026-01-01T00:00:00.000Z',
      type: 'gemini',
      content: 'x',
      model: 'g',
      tokens,
    })
  const context = { memory: {} }
  const first = { input: 100, output: 20, cached: 60, thoughts: 5, tool: 7, total: 132 }
  const read = [first, first, { ...first, output: 30, total: 142 }].flatMap((tokens) =>
    geminiLine(message(tokens), context),
  )
  expect(ofKind(read, 'text').length).toBe(1)
  expect(ofKind(read, 'usage').map(({ responseId, usage }) => [responseId, usage])).toEqual([
    ['m1', { input: 47, output: 25, cacheRead: 60, cacheWrite: 0, reasoning: 5, total: 132 }],
    ['m1', { input: 47, output: 35, cacheRead: 60, cacheWrite: 0, reasoning: 5, total: 142 }],
  ])
})

test('[SM-86] a call is told once, however often its message is written', () => {
  const call = {
    id: 'c1',
    name: 'read_file',
    args: { file_path: 'a' },
    timestamp: '2026-01-01T00:00:01.000Z',
  }
  const line = (status: string) =>
    JSON.stringify({
      id: 'm1',
      timestamp: '2026-01-01T00:00:00.000Z',
      type: 'gemini',
      toolCalls: [{ ...call, status }],
    })
  const context = { memory: {} }
  const read = ['executing', 'success', 'success'].flatMap((status) => geminiLine(line(status), context))
  expect(read.map(({ kind, at }) => [kind, at])).toEqual([
    ['tool-start', Date.parse('2026-01-01T00:00:00.000Z')],
    ['tool-end', Date.parse('2026-01-01T00:00:01.000Z')],
  ])
})

test('[SM-118] the file of a subagent begins with its start', () => {
  const line = '{"sessionId":"s","startTime":"2026-01-01T00:00:00.000Z","kind":"subagent"}'
  expect(geminiLine(line, { agent: 'child', memory: {} })).toEqual([
    expect.objectContaining({ kind: 'subagent-start', agentId: 'child' }),
  ])
})

test('[MUS-14] what is cut off, unknown or of another shape tells nothing', () => {
  const whole = readFileSync(file, 'utf8').split('\n')[4] ?? ''
  for (const line of [
    '',
    'x',
    '[]',
    '{}',
    '{"type":"gemini"}',
    whole.slice(0, -9),
    '{"sessionId":5,"startTime":"x"}',
  ])
    expect(geminiLine(line, { memory: {} })).toEqual([])
})

const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-gemini-')))

afterAll(() => rmSync(root, { recursive: true, force: true }))

const id = '7e9bab7c-aa4e-4e64-acec-08d90cff2708'
const chats = join(root, '.gemini/tmp/proj/chats')
const own = join(chats, 'session-2026-01-01T00-00-7e9bab7c.jsonl')

mkdirSync(join(chats, id), { recursive: true })

writeFileSync(own, `{"sessionId":"${id}"}\n`)

writeFileSync(join(chats, 'session-2026-01-02T00-00-7e9bab7c.jsonl'), '{"sessionId":"7e9bab7c-another"}\n')

writeFileSync(join(chats, id, 'agent-1.jsonl'), '{}\n')

const conversation = { workingDir: '/p', env: { HOME: root }, startedAtMs: 0, foreignId: id }
const expected = [
  { path: own },
  { path: join(chats, id, 'agent-1.jsonl'), agent: 'agent-1', agentType: 'subagent' },
]

test('[SM-86] a chat is found by its whole id, with its subagents', async () => {
  expect(await geminiTranscripts(conversation)).toEqual(expected)
  expect(await geminiTranscripts({ ...conversation, foreignId: 'unknown' })).toEqual([])
})

test('[MUS-337] a path through the session’s folder, which is gone with its program, leads to the same chat', async () => {
  const transcript = join(root, 'gone/tmp/proj/chats/session-2026-01-01T00-00-7e9bab7c.jsonl')
  expect(await geminiTranscripts({ ...conversation, transcript })).toEqual(expected)
})

test('[SM-86][MUS-307] a path through the session’s folder is told as the one that lasts; one elsewhere or of another is none', async () => {
  symlinkSync(join(root, '.gemini'), join(root, 'shadow'))
  const transcript = join(root, 'shadow/tmp/proj/chats/session-2026-01-01T00-00-7e9bab7c.jsonl')
  expect(await geminiTranscripts({ ...conversation, transcript })).toEqual(expected)
  const elsewhere = join(root, 'session-2026-01-01T00-00-7e9bab7c.jsonl')
  writeFileSync(elsewhere, `{"sessionId":"${conversation.foreignId}"}\n`)
  expect(await geminiTranscripts({ ...conversation, transcript: elsewhere })).toEqual([])
  expect(await geminiTranscripts({ ...conversation, foreignId: '7e9bab7c-another', transcript })).toEqual([])
})
