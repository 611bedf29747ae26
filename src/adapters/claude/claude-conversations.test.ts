import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { configFolder, findForeign, findTranscripts, projectFolder } from './claude-conversations.ts'

const { signal } = new AbortController()

/** A folder of Claude Code's with these files; a text is written as it is. */
function claudeHome(files: Readonly<Record<string, unknown>>) {
  const folder = tempFolder('claude-config-')
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return { folder, env: { CLAUDE_CONFIG_DIR: folder } }
}

const conversation = (env: Record<string, string>, more: object = {}) => ({
  workingDir: '/work/v2.1_x',
  foreignId: 'abc',
  env,
  startedAtMs: 0,
  ...more,
})

test('[SM-86] a conversation’s folder is named after the working folder', () => {
  expect(projectFolder({ CLAUDE_CONFIG_DIR: '/c' }, '/tmp/x/v2.1')).toBe('/c/projects/-tmp-x-v2-1')
  const long = `/srv/${Array.from({ length: 30 }, () => 'long name').join('/')}`
  const name = `-srv-${'long-name-'.repeat(30)}`.slice(0, 200)
  expect(projectFolder({ CLAUDE_CONFIG_DIR: '/c' }, long)).toBe(`/c/projects/${name}-87sa54`)
  expect(configFolder({ HOME: '/home/dev' })).toBe('/home/dev/.claude')
  expect(configFolder({ HOME: '/home/dev', CLAUDE_CONFIG_DIR: '' })).toBe('/home/dev/.claude')
})

test('[SM-86][MUS-307] the file is found by its path, by the rule, or by its id; nothing when it is not there or not its own', async () => {
  const { folder, env } = claudeHome({
    'projects/-work-v2-1-x/abc.jsonl': '',
    'projects/elsewhere/other.jsonl': '',
    'projects/stray-file': '',
  })
  const usual = join(folder, 'projects/-work-v2-1-x/abc.jsonl')
  const paths = async (more: object) =>
    (await findTranscripts(conversation(env, more))).map(({ path }) => path)
  expect(await paths({})).toEqual([usual])
  expect(await paths({ transcript: usual })).toEqual([usual])
  expect(await paths({ transcript: usual, foreignId: undefined })).toEqual([])
  expect(await paths({ transcript: usual, foreignId: 'none' })).toEqual([])
  const [elsewhere, link] = [join(folder, 'abc.jsonl'), join(folder, 'projects/elsewhere/abc.jsonl')]
  writeFileSync(elsewhere, '')
  symlinkSync(elsewhere, link)
  for (const transcript of [elsewhere, link]) expect(await paths({ transcript })).toEqual([])
  expect(await paths({ foreignId: 'other' })).toEqual([join(folder, 'projects/elsewhere/other.jsonl')])
  expect(await paths({ foreignId: 'none' })).toEqual([])
  expect(await paths({ foreignId: undefined })).toEqual([])
})

test('[SM-86] subagents have files of their own; after a clear only those that hold words count', async () => {
  const { folder, env } = claudeHome({
    'projects/-work-v2-1-x/abc.jsonl': '',
    'projects/-work-v2-1-x/abc/subagents/agent-b2.jsonl': '',
    'projects/-work-v2-1-x/abc/subagents/agent-a1.jsonl': '',
    'projects/-work-v2-1-x/abc/subagents/agent-a1.meta.json': {
      agentType: 'Explore',
      description: 'look',
      toolUseId: 'toolu_1',
      requestShape: 'foreground',
    },
    'projects/-work-v2-1-x/abc/subagents/deep/agent-c3.jsonl': '',
    'projects/-work-v2-1-x/abc/subagents/deep/agent-c3.meta.json': '{',
    'projects/-work-v2-1-x/new.jsonl': '',
    'projects/-work-v2-1-x/new/subagents/agent-a1.meta.json': { agentType: 'Explore' },
  })
  const at = (file: string) => join(folder, 'projects/-work-v2-1-x', file)
  expect(await findTranscripts(conversation(env))).toEqual([
    { path: at('abc.jsonl') },
    {
      path: at('abc/subagents/agent-a1.jsonl'),
      agent: 'a1',
      agentType: 'Explore',
      description: 'look',
      callId: 'toolu_1',
      isBackground: false,
    },
    // Nobody knows it of these.
    { path: at('abc/subagents/agent-b2.jsonl'), agent: 'b2', isBackground: true },
    { path: at('abc/subagents/deep/agent-c3.jsonl'), agent: 'c3', isBackground: true },
  ])
  expect(await findTranscripts(conversation(env, { foreignId: 'new' }))).toEqual([{ path: at('new.jsonl') }])
})

test('[MUS-240] sessions that others started are found while they run', async () => {
  const own = { pid: process.pid, cwd: '/work/v2.1_x', version: '2.1.325', kind: 'interactive' }
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8')
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const { folder, env } = claudeHome({
    'sessions/1.json': {
      ...own,
      sessionId: 'abc',
      status: 'waiting',
      name: 'proj-0f',
      updatedAt: 5e12,
      procStart,
    },
    'sessions/2.json': { ...own, sessionId: 'new', status: 'dancing', startedAt: 7 },
    'sessions/3.json': { ...own, sessionId: 'reused', procStart: '1' },
    'sessions/4.json': { ...own, sessionId: 'dead', pid: 2 ** 22 + 1 },
    'sessions/5.json': '{"pid": 1',
    'sessions/6.json': { pid: 'x' },
    'sessions/1.secret.key': { ...own, sessionId: 'secret' },
    'projects/-work-v2-1-x/abc.jsonl': '',
  })
  const found = await findForeign(env, signal)
  expect(found.toSorted((a, b) => a.foreignId.localeCompare(b.foreignId))).toEqual([
    {
      cli: 'claude',
      foreignId: 'abc',
      workingDir: '/work/v2.1_x',
      pid: process.pid,
      transcript: join(folder, 'projects/-work-v2-1-x/abc.jsonl'),
      status: 'waiting',
      title: 'proj-0f',
      lastActivityMs: 5e12,
    },
    { cli: 'claude', foreignId: 'new', workingDir: '/work/v2.1_x', pid: process.pid, lastActivityMs: 7 },
  ])
  expect(await findForeign({ CLAUDE_CONFIG_DIR: '/no/such/folder' }, signal)).toEqual([])
})
