import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { type SessionId, shortId } from '../../src/contract/ids.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** A project whose agent program ends at once the first times that it is started. */
async function unwilling(times: number) {
  const folder = tempFolder('unwilling-')
  const program = join(folder, 'claude')
  writeFileSync(
    program,
    `#!/bin/sh
case "$1" in --version) echo "2.1.325 (Claude Code)"; exit 0 ;; auth) exit 1 ;; esac
echo "$MUSTER_SESSION" >> "${folder}/starts"
[ "$(wc -l < "${folder}/starts")" -le ${Math.min(times, 1000)} ] && exit 3
exec "$(cat "${folder}/willing")" "$@"
`,
  )
  chmodSync(program, 0o700)
  const m = await standInClaude({ claude: { default_command: program } })
  writeFileSync(join(folder, 'willing'), m.program)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', m.work, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args])
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'Nothing yet')
  const all = async () => (await m.m.client.listEvents({ limit: 1000 })).events as AgentEvent[]
  const of = async <T extends EventType>(type: T): Promise<EventOf<T>[]> =>
    (await all()).filter((event): event is EventOf<T> => event.type === type)
  return {
    m,
    of,
    starts: () => readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n'),
    crew: () =>
      m.m.client.startCrew({ request: 'Look around', project_root: m.work, crew: 'solo', cli: 'claude' }),
  }
}

test('[MUS-282] an assignment whose program ends at its start is handed over again, once for each try, through a kill of the daemon', async () => {
  const { m, of, starts, crew } = await unwilling(2)
  const { workflow_id } = await crew()
  await eventually(
    () => of('retry.scheduled'),
    (all) => all.length === 2,
  )
  // It waits for its third try.
  await m.m.restart('SIGKILL')
  await eventually(
    async () => starts(),
    (all) => all.length === 3,
  )
  const id = starts()[2] as SessionId
  await eventually(
    () => of('session.launched'),
    (all) => all.some(({ sessionId }) => sessionId === id),
  )
  expect((await of('agent.message.created')).map(({ payload }) => payload.messageType)).toEqual([
    'task_assignment',
  ])
  const text = '```json\n{ "status": "completed", "summary": "I looked." }\n```'
  await m.turn({ id, session_id: shortId(id) }, { prompt: 'Look around', text })
  const flow = await eventually(
    () => m.m.client.getWorkflow({ id: workflow_id }),
    ({ status }) => status !== 'running',
  )
  // It only looked around, so nothing was changed.
  expect(flow).toMatchObject({ status: 'failed', agents: 1, report: { tasks: [{ attempts: 1 }] } })
  expect(new Set(starts()).size).toBe(3)
  expect((await of('retry.scheduled')).map(({ payload }) => payload)).toMatchObject([
    { attempt: 1, maxAttempts: 3, delayMs: 1000, reason: expect.stringContaining('exit code 3') },
    { attempt: 2, maxAttempts: 3, delayMs: 4000 },
  ])
  const said = (await of('agent.message.created')).flatMap(({ payload }) =>
    payload.messageType === undefined ? [] : [payload],
  )
  expect(said.map(({ messageType }) => messageType)).toEqual([
    'task_assignment',
    'acknowledgment',
    'task_completion',
  ])
  const [assigned] = said
  const receipts = [...(await of('message.queued')), ...(await of('message.accepted'))].filter(
    ({ payload }) => payload.messageId === assigned?.messageId,
  )
  expect(receipts.map(({ type }) => type)).toEqual(['message.queued', 'message.accepted'])
  expect(await of('task.failed')).toEqual([])
})

test('[MUS-282] a program that ends sooner than its start is written down has its end all the same', async () => {
  const { m, of } = await unwilling(Infinity)
  const spawned = await Promise.all(Array.from({ length: 12 }, () => m.spawn()))
  const failed = await eventually(
    () => of('session.failed'),
    (all) => all.length === spawned.length,
  )
  for (const { payload } of failed) expect(payload.reason).toContain('exit code 3')
})
