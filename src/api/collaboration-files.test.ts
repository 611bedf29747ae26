import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { manualClock } from '../../test/http/manual-clock.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { documentFolder } from '../adapters/system/durable-files.ts'
import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { SessionState } from '../core/session/state.ts'
import type { SessionFile } from '../session-file/export-session.ts'
import { CollaborationFiles } from './collaboration-files.ts'

const [flow, child, other] = ['ses_flow', 'ses_child', 'ses_other'] as SessionId[] as [
  SessionId,
  SessionId,
  SessionId,
]
const states = [
  { sessionId: flow, managed: { origin: 'workflow' } },
  { sessionId: child, parentSessionId: flow, managed: { origin: 'managed' } },
  { sessionId: other, managed: { origin: 'managed' } },
] as unknown as SessionState[]

/** A workflow with a child, and a session of somebody else; what its file holds is said by the test. */
function bench(folder = join(tempFolder('collaborations-'), 'files')) {
  const clock = manualClock()
  const now = { status: 'in_progress', filename: 'a-multi.json', kind: 'std-008', calls: 0 }
  const files = new CollaborationFiles({
    engine: {
      session: (id) => states.find(({ sessionId }) => sessionId === id),
      sessions: () => states[Symbol.iterator](),
    },
    clock,
    documents: documentFolder(folder),
    row: async (sessionId) =>
      ({ sessionId, origin: sessionId === flow ? 'workflow' : 'managed' }) as SessionRow,
    file: async () => {
      now.calls += 1
      const { status, filename, kind, calls } = now
      return { document: { status, calls }, filename, kind } as unknown as SessionFile
    },
    names: async () => ['a-multi.json', 'a.json'],
    onBug: (error) => expect.fail(String(error)),
  })
  // Before its folder is gone: what it still writes then would fail.
  onTestFinished(() => files.stop())
  const tell = (sessionId: SessionId, type: AgentEvent['type'] = 'tool.call.started') =>
    files.reactor.react({ sessionId, type } as AgentEvent, new AbortController().signal)
  const read = (name = 'a-multi.json') => JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown
  return { files, clock, now, tell, read, folder }
}

test('[MUS-278] many changes are one file a second, of the workflow that they belong to, and private', async () => {
  const m = bench()
  await m.files.start()
  for (let n = 0; n < 100; n++) for (const id of [flow, child, other]) await m.tell(id)
  expect(m.clock.sleepers()).toBe(1)
  m.clock.advance(999)
  expect(readdirSync(m.folder)).toEqual([])
  m.clock.advance(1)
  await expect.poll(() => m.read()).toEqual({ status: 'in_progress', calls: 1 })
  expect(statSync(join(m.folder, 'a-multi.json')).mode & 0o777).toBe(0o600)
  await m.tell(child)
  m.clock.advance(1000)
  await expect.poll(() => m.read()).toEqual({ status: 'in_progress', calls: 2 })
  await m.files.stop()
})

test('[MUS-278] what a killed daemon left is written again, though nothing more happens', async () => {
  const m = bench()
  await m.files.start()
  m.clock.advance(1000)
  await expect.poll(() => m.read()).toEqual({ status: 'in_progress', calls: 1 })
})

test('[MUS-278] the end is in the file before it is done with, and what is final is never written again', async () => {
  const m = bench()
  await m.files.start()
  m.now.status = 'success'
  await m.tell(flow, 'session.completed')
  expect(m.read()).toEqual({ status: 'success', calls: 1 })
  await m.tell(flow, 'session.completed')
  m.clock.advance(5000)
  expect(m.now.calls).toBe(1)
  writeFileSync(join(m.folder, 'a-multi.json'), '{"status":"failed"}')
  const next = bench(m.folder)
  await next.files.start()
  await next.tell(flow, 'session.completed')
  expect([next.now.calls, next.read()]).toEqual([0, { status: 'failed' }])
})

test('[MUS-278] its name stays what it was, and there is none before its kind is known', async () => {
  const m = bench()
  await m.files.start()
  m.now.kind = 'std-001'
  m.clock.advance(1000)
  await expect.poll(() => m.now.calls).toBe(1)
  const row = { sessionId: flow } as SessionRow
  expect(await m.files.pathOf(row)).toBeNull()
  m.now.kind = 'std-008'
  for (const filename of ['a-multi.json', 'b-multi.json']) {
    m.now.filename = filename
    await m.tell(flow)
    const { calls } = m.now
    m.clock.advance(1000)
    await expect.poll(() => m.read()).toEqual({ status: 'in_progress', calls: calls + 1 })
  }
  expect([existsSync(join(m.folder, 'b-multi.json')), await m.files.pathOf(row)]).toEqual([
    false,
    join(m.folder, 'a-multi.json'),
  ])
})

test('[MUS-278] a workflow that ended before it handed anything out has the file of one agent', async () => {
  const m = bench()
  Object.assign(m.now, { status: 'failed', kind: 'std-001', filename: 'a.json' })
  await m.tell(flow, 'session.failed')
  expect(m.read('a.json')).toEqual({ status: 'failed', calls: 1 })
  expect(await m.files.pathOf({ sessionId: flow } as SessionRow)).toBe(join(m.folder, 'a.json'))
})
