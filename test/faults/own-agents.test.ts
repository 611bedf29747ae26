import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { call, script } from '../support/own-agents.ts'
import { journalFaults, ownDaemon } from '../support/own-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { sized } from '../support/size.ts'
import { tempFolder } from '../support/temp-journal.ts'

async function started(onRestart: 'fail' | 'resume') {
  const m = await ownDaemon(realpathSync(tempFolder('mof-')), {
    runtime: `{ on_restart: ${onRestart}, approvals: [{ tool: Bash, pattern: "git *", action: ask }] }`,
  })
  onTestFinished(() => m.close())
  const idle = () =>
    eventually(
      async () => (await m.runs()).filter(({ status }) => status === 'running'),
      (running) => running.length === 0,
    )
  const runOf = async (sessionId: string) =>
    (await m.runs()).findLast((run) => run.session_id === sessionId && !run.parent_run_id)
  return { ...m, m, idle, runOf }
}

/** Six sessions, each stopped at another point of a run when the daemon ends. */
async function sixMoments({ m }: Awaited<ReturnType<typeof started>>) {
  for (const word of ['HOLD-A', 'HOLD-E']) m.held.add(word)
  const mark = (name: string) => call('Bash', { command: `echo ran >> ${name}.mark; sleep 30` })
  const asking = await m.say(`HOLD-A ${script({ text: 'A is done' })}`)
  const bash = await m.say(script(mark('b'), { text: 'B: ${lastToolResult}' }))
  const child = script(mark('c'), { text: 'never' })
  const task = await m.say(
    script(call('Task', { subagent_type: 'helper', prompt: child }), { text: 'C: ${lastToolResult}' }),
  )
  const git = call('Bash', { command: 'git --version' })
  const approval = await m.say(script(git, git, { text: 'D: ${lastToolResult}' }))
  const queue = await m.say(`HOLD-E ${script({ text: 'E1' })}`)
  await m.say(script({ text: 'E2' }), { session_id: queue.session_id })
  await m.say(script({ text: 'E3' }), { session_id: queue.session_id })
  await eventually(
    async () => ['b', 'c'].filter((name) => existsSync(join(m.project, `${name}.mark`))),
    (found) => found.length === 2,
  )
  await m.until('approval.requested')
  await m.until('llm.request.started', 6)
  m.held.add('/slow/')
  const unbegun = await m.say(script({ text: 'F is done' }))
  expect(await m.until('agent.spawned', 6)).toHaveLength(6)
  return { asking, bash, task, approval, queue, unbegun }
}

/** The first of two ways in a quick run, both at full size. */
const some = <T>(ways: readonly T[]): readonly T[] => ways.slice(0, sized(2, 1))

const answerOf = (text: string) => expect.objectContaining({ text: expect.stringContaining(text) })

test.each(some(['SIGTERM', 'SIGKILL'] as const))(
  '[MUS-174][MUS-49] after a %s nothing says running: runs have failed with their reason, what waited is taken up, and the conversation goes on',
  async (signal) => {
    const t = await started('fail')
    const { m } = t
    const { asking, bash, task, approval, queue, unbegun } = await sixMoments(t)
    await m.restart(signal, () => m.held.clear())
    const failed = await m.until('agent.failed', 6)
    expect(new Set(failed.map(({ payload }) => payload.reason))).toEqual(
      new Set(['Muster was stopped while it worked (runtime.on_restart)']),
    )
    // E2, E3 and F waited.
    const done = await m.until('agent.completed', 3)
    expect(done.map(({ payload }) => payload.output)).toEqual(
      expect.arrayContaining([answerOf('E2'), answerOf('E3'), answerOf('F is done')]),
    )
    expect(done.map(({ sessionId }) => sessionId)).toContain(unbegun.session_id)
    await t.idle()
    const [expired] = await m.until('approval.expired')
    expect(expired).toMatchObject({
      sessionId: approval.session_id,
      payload: { reason: expect.stringContaining('stopped') },
    })
    const runs = await m.runs()
    expect(runs.filter(({ status }) => status === 'failed')).toHaveLength(6)
    expect(runs.find(({ parent_run_id }) => parent_run_id)).toMatchObject({
      session_id: task.session_id,
      status: 'failed',
      detail: expect.stringContaining('Muster was stopped'),
    })
    for (const { session_id } of [asking, bash, task, approval, queue]) {
      const before = m.asked.length
      await m.say(`and now ${script({ text: 'going on' })}`, { session_id })
      await eventually(async () => m.asked.slice(before).some((body) => body.includes('and now')), Boolean)
    }
    await m.until('agent.completed', 8)
    const last = (word: string) =>
      m.asked.findLast((body) => body.includes('and now') && body.includes(word)) ?? ''
    expect(last('HOLD-A')).toContain('A is done')
    expect(last('b.mark')).toMatch(/tool_result.*(cut off|cancelled)/i)
    expect(last('c.mark')).toMatch(/tool_result.*cut off/)
    expect(last('E3')).toContain('HOLD-E')
    for (const name of ['b', 'c']) expect(readFileSync(join(m.project, `${name}.mark`), 'utf8')).toBe('ran\n')
    await t.idle()
    expect(journalFaults(await m.events())).toEqual([])
    const sessions = await m.daemon.client.listSessions({})
    expect(JSON.stringify(sessions)).not.toMatch(/"status":"running"/)
  },
)

test.each(some(['SIGKILL', 'SIGTERM'] as const))(
  '[MUS-49][RUN-29] after a %s a run goes on under its own id to its one end, and what was cut off is told, not done again',
  async (signal) => {
    const t = await started('resume')
    const { m } = t
    const { asking, bash, task, approval, queue, unbegun } = await sixMoments(t)
    const before = new Map(
      (await m.until('agent.spawned', 6))
        .filter((one) => !one.parentRunId)
        .map((one) => [one.sessionId as string, one.runId]),
    )
    await m.restart(signal, () => m.held.clear())
    await m.until('approval.requested', 2)
    await m.daemon.client.decideApproval({ id: approval.session_id, verdict: 'allow' })
    const done = await m.until('agent.completed', 8)
    const first = (sessionId: string) => done.find((one) => one.sessionId === sessionId)
    for (const { session_id } of [asking, bash, task, approval, queue])
      expect(first(session_id)?.runId).toBe(before.get(session_id))
    expect(first(asking.session_id)?.payload.output).toEqual(answerOf('A is done'))
    expect(first(bash.session_id)?.payload.output).toEqual(
      expect.objectContaining({ text: expect.stringMatching(/cut off|cancelled/i) }),
    )
    expect(first(task.session_id)?.payload.output).toEqual(answerOf('cut off'))
    expect(first(approval.session_id)?.payload.output).toEqual(answerOf('git version'))
    expect(first(unbegun.session_id)?.payload.output).toEqual(answerOf('F is done'))
    expect(
      done.filter(({ sessionId }) => sessionId === queue.session_id).map(({ payload }) => payload.output),
    ).toEqual([answerOf('E1'), answerOf('E2'), answerOf('E3')])
    expect(await m.until('agent.failed')).toMatchObject([{ parentRunId: before.get(task.session_id) }])
    for (const name of ['b', 'c']) expect(readFileSync(join(m.project, `${name}.mark`), 'utf8')).toBe('ran\n')
    await t.idle()
    expect(journalFaults(await m.events())).toEqual([])
  },
)

test('[MUS-49][MUS-254] what a run read before a kill it may change after it, and what another has changed meanwhile it may not', async () => {
  const t = await started('resume')
  const { m } = t
  for (const name of ['mine', 'theirs']) writeFileSync(join(m.project, name), 'old\n')
  const edit = (file_path: string) => call('Edit', { file_path, old_string: 'old', new_string: 'new' })
  await m.say(
    script(
      call('Read', { file_path: './mine' }),
      call('Read', { file_path: 'theirs' }),
      call('Bash', { command: 'touch here; sleep 30' }),
      edit('mine'),
      edit('theirs'),
      { text: 'It is ${lastToolResult}' },
    ),
  )
  await eventually(async () => existsSync(join(m.project, 'here')), Boolean)
  await m.restart('SIGKILL', () => writeFileSync(join(m.project, 'theirs'), 'old, by a person\n'))
  const [done] = await m.until('agent.completed')
  expect(readFileSync(join(m.project, 'mine'), 'utf8')).toBe('new\n')
  expect(readFileSync(join(m.project, 'theirs'), 'utf8')).toBe('old, by a person\n')
  expect(JSON.stringify(done?.payload.output)).toContain('Read it first')
})

test('[MUS-49][MUS-46] a secret that a resumed run copies comes out as it was, and the journal has none of it', async () => {
  const t = await started('resume')
  const { m } = t
  const secret = `AKIA${'Q7ZX'.repeat(4)}`
  const text = `aws_access_key_id = ${secret}\n`
  writeFileSync(join(m.project, 'credentials'), text)
  const copy = (file_path: string) => call('Write', { file_path, content: text })
  await m.say(
    script(
      call('Read', { file_path: 'credentials' }),
      call('Bash', { command: 'touch here; sleep 30' }),
      copy('copy'),
      {
        text: 'It is ${lastToolResult}',
      },
    ),
  )
  await eventually(async () => existsSync(join(m.project, 'here')), Boolean)
  await m.restart('SIGKILL')
  await m.until('agent.completed')
  expect(readFileSync(join(m.project, 'copy'), 'utf8')).toBe(text)
  expect(m.asked.at(-1)).toContain(secret)
  expect(m.asked.join('')).not.toContain('[redacted:')
  await m.daemon.kill('SIGTERM')
  const files = readdirSync(m.home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  const holding = files.filter(({ parentPath, name }) =>
    readFileSync(join(parentPath, name), 'latin1').includes(secret),
  )
  expect(holding.map(({ name }) => name)).toEqual([])
  expect(readdirSync(join(m.home, 'journal/segments')).length).toBeGreaterThan(0)
})

test.each(some(['vault', 'vault.key']))(
  '[MUS-49] without its %s a run has failed and says why, and the conversation says what is missing',
  async (lost) => {
    const t = await started('resume')
    const { m } = t
    const { session_id } = await m.say(script({ text: 'The number is 42.' }))
    await m.until('agent.completed')
    await m.say(`HOLD-A ${script({ text: 'never' })}`, { session_id })
    m.held.add('HOLD-A')
    await m.until('llm.request.started', 2)
    const waiting = await m.say(script({ text: 'never' }), { session_id })
    await m.restart('SIGKILL', () => {
      m.held.clear()
      rmSync(join(m.home, lost), { recursive: true })
    })
    const [failed] = await m.until('agent.failed')
    expect(failed?.payload.reason).toContain('no longer in the vault')
    const [gone] = await m.until('message.failed')
    expect(gone?.payload).toMatchObject({ messageId: waiting.message_id, errorType: 'gone' })
    await m.say(`what was it? ${script({ text: 'I do not know.' })}`, { session_id })
    await m.until('agent.completed', 2)
    expect(m.asked.at(-1)).toContain('Earlier parts of this conversation are no longer kept.')
    expect(m.asked.at(-1)).not.toContain('The number is 42')
    expect(journalFaults(await m.events())).toEqual([])
    expect(m.daemon.log()).not.toMatch(/"level":(50|60)/)
  },
)
