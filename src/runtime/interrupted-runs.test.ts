import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { systemProcesses } from '../adapters/system/processes.ts'
import { agentTools } from '../adapters/tools/agent-tools.ts'
import { matchesGlob } from '../core/delegation/globs.ts'
import { tidyCutOff } from './interrupted-runs.ts'

const ids = { sessionId: 's', runId: 'r' }
const event = (type: string, callId: string, more: object = {}) => ({
  ...ids,
  type,
  timestamp: '2026-01-01T00:00:00.000Z',
  payload: { callId, ...more },
})

test('[MUS-49] [MUS-235] what a kill left of a file that was being written is taken away, and nothing else', async () => {
  const workspace = realpathSync(tempFolder('mtidy-'))
  for (const folder of ['a', 'b']) mkdirSync(join(workspace, folder))
  const { pid: dead } = spawnSync(process.execPath, ['-e', ''])
  const draft = (folder: string, pid: number) => {
    const name = `.muster-${pid}-${randomUUID()}`
    writeFileSync(join(workspace, folder, name), 'half')
    return name
  }
  draft('a', dead)
  const alive = draft('a', process.pid)
  const elsewhere = draft('b', dead)
  async function* events() {
    yield event('tool.call.started', '1', { tool: 'Read', params: { file_path: 'b/old.txt' } })
    yield event('tool.call.completed', '1', { tool: 'Read' })
    yield event('tool.call.started', '2', { tool: 'Write', params: { file_path: './a/new.txt' } })
    yield event('tool.call.started', '3', { tool: 'Edit', params: { file_path: 'gone/away.txt' } })
  }
  const tools = agentTools({ env: process.env, processes: systemProcesses(systemClock), matchesGlob })
  const done = await tidyCutOff(
    { tools, events, clock: systemClock } as never,
    { ...ids, workspace } as never,
  )
  expect(readdirSync(join(workspace, 'a'))).toEqual([alive])
  expect(readdirSync(join(workspace, 'b'))).toEqual([elsewhere])
  expect(done.seenBefore).toEqual([{ path: 'b/old.txt', atMs: Date.UTC(2026, 0, 1) }])
})
