import { expect, test } from 'vitest'
import { sessionReportCommands } from '../../src/cli/commands/session-report.ts'
import { sessionCommands } from '../../src/cli/commands/sessions.ts'
import { inside, recorder } from './recorder.ts'
import { detail, session } from './session-data.ts'
import { collect, world } from './world.ts'

const { lock, name, task, unlock } = sessionReportCommands
const { adopt, restore, wait } = sessionCommands

test('[SM-20] name, task, lock and unlock change one thing each', async () => {
  const { client, asked } = recorder({ updateSession: [session('abc123', { friendly_name: 'eng' })] })
  const { io } = world({ client, env: inside })
  const id = inside.MUSTER_SESSION
  await collect(name.run({ 'name-or-session': 'eng', name: undefined }, io))
  await collect(name.run({ 'name-or-session': 'def456', name: 'eng' }, io))
  await collect(task.run({ text: 'Login', session: undefined }, io))
  await collect(task.run({ text: '', session: 'x' }, io))
  await collect(lock.run({ text: 'Rebase', session: undefined }, io))
  await collect(unlock.run({ session: undefined }, io))
  expect(asked.map(({ input }) => input)).toEqual([
    { id, name: 'eng' },
    { id: 'def456', name: 'eng' },
    { id, task: 'Login' },
    { id: 'x', task: null },
    { id, lock: 'Rebase' },
    { id, lock: null },
  ])
})

test('[SM-120] adopt takes a session under the caller, a named parent, or nobody', async () => {
  const { client, asked } = recorder({ adoptSession: [session('def456')] })
  await collect(adopt.run({ session: 'def456', parent: undefined }, world({ client, env: inside }).io))
  await collect(adopt.run({ session: 'def456', parent: 'em' }, world({ client, env: inside }).io))
  await collect(adopt.run({ session: 'def456', parent: undefined }, world({ client }).io))
  const inputs = asked.map(({ input }) => input as { environment?: Record<string, string> })
  // What a session that is taken over may inherit goes along, but never who the caller is.
  expect(Object.keys(inputs[0]?.environment ?? {})).toEqual(['PWD'])
  expect(inputs.map(({ environment: _environment, ...rest }) => rest)).toEqual([
    { id: 'def456', parent: inside.MUSTER_SESSION },
    { id: 'def456', parent: 'em' },
    { id: 'def456' },
  ])
})

test('[SM-120] a dry restore asks with its flag, and starts no daemon whose start would restore', async () => {
  const { client, asked } = recorder({ restoreSessions: [{ sessions: [] }] })
  await collect(restore.run({ 'dry-run': true }, world({ client }).io))
  expect(asked.map(({ input }) => input)).toEqual([{ dry_run: true }])
  await expect(
    collect(restore.run({ 'dry-run': true }, world({ client, state: 'down' }).io)),
  ).rejects.toMatchObject({ code: 'unavailable' })
  expect(asked).toHaveLength(1)
})

test('[SM-120] restore is exit 1 when somebody has to look', async () => {
  const result = (word: 'running' | 'restored' | 'needs you' | 'gone') => ({
    sessions: [{ session_id: 'a', name: 'a', result: word, why: '' }],
  })
  const words = ['running', 'restored', 'needs you', 'gone'] as const
  expect(words.map((word) => restore.exitCode?.(result(word)))).toEqual([0, 0, 1, 1])
})

test('[SM-91] wait is exit 1 for every end but completed', () => {
  const codes = (
    ['completed', 'error', 'killed', 'abandoned', 'cancelled', 'idle', 'waiting_input'] as const
  ).map((word) => wait.exitCode?.(detail('a', { status: word })))
  expect(codes).toEqual([0, 1, 1, 1, 1, 0, 0])
})
