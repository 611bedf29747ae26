import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { geminiTranscripts } from './transcripts.ts'

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

test('[SM-86] a path through the session’s folder is told as the one that lasts', async () => {
  symlinkSync(join(root, '.gemini'), join(root, 'shadow'))
  const transcript = join(root, 'shadow/tmp/proj/chats/session-2026-01-01T00-00-7e9bab7c.jsonl')
  expect(await geminiTranscripts({ ...conversation, transcript })).toEqual(expected)
  expect(await geminiTranscripts({ ...conversation, transcript: '/nonexistent' })).toEqual([])
})
