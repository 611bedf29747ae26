import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { codexForeign, codexMayHaveRun, codexTranscripts } from './codex-conversations.ts'

const home = mkdtempSync(join(tmpdir(), 'muster-codex-'))

afterAll(() => rmSync(home, { recursive: true, force: true }))

const env = { CODEX_HOME: home }
const now = Date.parse('2026-03-02T12:00:00.000Z')

/** A rollout file with a first line as long as real ones. */
function rollout(day: string, id: string, payload: object = {}): string {
  const folder = join(home, 'sessions', ...day.split('-'))
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `rollout-${day}T10-00-00-${id}.jsonl`)
  const head = {
    id,
    session_id: id,
    cwd: '/home/dev/proj',
    base_instructions: { text: 'x'.repeat(90_000) },
    ...payload,
  }
  writeFileSync(
    path,
    `${JSON.stringify({ timestamp: 't', type: 'session_meta', payload: head })}\n{"type":"x"}\n`,
  )
  return path
}

const child = (root: string) => ({ session_id: root, parent_thread_id: root, agent_role: 'explorer' })

const own = rollout('2026-03-02', 'aaaa-1')
const sub = rollout('2026-03-02', 'aaaa-2', child('aaaa-1'))

rollout('2026-03-02', 'bbbb-1')

rollout('2026-03-02', 'bbbb-2', child('bbbb-1'))

const old = rollout('2025-12-24', 'cccc-1')

const conversation = { workingDir: '/home/dev/proj', env, startedAtMs: now }

test('[SM-86] a conversation is found by its id, with its subagents and no one else’s', async () => {
  expect(await codexTranscripts()({ ...conversation, foreignId: 'aaaa-1' })).toEqual([
    { path: own },
    { path: sub, agent: 'aaaa-2', agentType: 'explorer' },
  ])
})

test('[SM-86] one that was begun long ago is found in its old place', async () => {
  expect(await codexTranscripts()({ ...conversation, foreignId: 'cccc-1' })).toEqual([{ path: old }])
})

test('[SM-86][MUS-307] the path that Codex told needs no search; one that is elsewhere or of another is none', async () => {
  const told = { ...conversation, foreignId: 'aaaa-1', transcript: own }
  expect(await codexTranscripts()(told)).toHaveLength(2)
  expect(await codexTranscripts()({ ...told, foreignId: 'dddd-1' })).toEqual([])
  const elsewhere = join(home, basename(own))
  copyFileSync(own, elsewhere)
  expect(await codexTranscripts()({ ...told, transcript: elsewhere })).toEqual([])
  expect(await codexTranscripts()({ ...conversation, foreignId: 'dddd-1' })).toEqual([])
  expect(
    await codexTranscripts()({ ...conversation, env: { CODEX_HOME: '/nonexistent' }, foreignId: 'x' }),
  ).toEqual([])
})

test('[MUS-213] a conversation is running when a process holds its lock, not when the file is there', async () => {
  const locks = join(home, 'thread-writer-locks')
  mkdirSync(locks, { recursive: true })
  const ids = ['01a1e19c-ed96-7a70-a06c-902653dd32e1', '01a1e19c-ed96-7a70-a06c-902653dd32e2']
  for (const id of ids) {
    rollout('2026-03-02', id)
    writeFileSync(join(locks, `${id}.lock`), '')
  }
  writeFileSync(join(home, 'session_index.jsonl'), `{"id":"${ids[0]}","thread_name":"a title"}\n`)
  const table = join(home, 'locks')
  const held = statSync(join(locks, `${ids[0]}.lock`)).ino
  writeFileSync(
    table,
    `1: POSIX  ADVISORY  READ 5 fe:00:9 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 fe:00:${held} 0 EOF\n`,
  )
  expect(await codexForeign(env, table)).toEqual([
    expect.objectContaining({ foreignId: ids[0], pid: 4711, workingDir: '/home/dev/proj', title: 'a title' }),
  ])
  expect(await codexForeign(env, '/nonexistent')).toEqual([])
})

test('[MUS-135] a codex that could not tell its id may have run when anything was begun in its folder since', async () => {
  const home = tempFolder()
  const startedAtMs = Date.now()
  const conversation = { workingDir: '/work/a', startedAtMs, env: { CODEX_HOME: home } }
  const day = join(home, 'sessions', ...new Date(startedAtMs).toISOString().slice(0, 10).split('-'))
  mkdirSync(day, { recursive: true })
  const rollout = (id: string, cwd: string, atMs: number) => {
    const path = join(day, `rollout-x-${id}.jsonl`)
    writeFileSync(path, `${JSON.stringify({ type: 'session_meta', payload: { id, cwd } })}\n`)
    utimesSync(path, atMs / 1000, atMs / 1000)
  }
  expect(await codexMayHaveRun(conversation)).toBe(false)
  rollout('other-folder', '/work/b', startedAtMs + 1000)
  rollout('before', '/work/a', startedAtMs - 60_000)
  expect(await codexMayHaveRun(conversation)).toBe(false)
  rollout('since', '/work/a', startedAtMs + 1000)
  expect(await codexMayHaveRun(conversation)).toBe(true)
  expect(await codexMayHaveRun({ ...conversation, workingDir: '/work/c' })).toBe(false)
  expect(await codexMayHaveRun({ ...conversation, workingDir: '/work/c', foreignId: 'f' })).toBe(true)
})
