import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { codexMayHaveRun } from './transcripts.ts'

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
