import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ownDaemon } from '../support/asked-daemon.ts'
import { call, script } from '../support/own-agents.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

const usual = shared(() => ownDaemon())

/** The sessions and runs that there are now and were not before. */
async function since(m: Awaited<ReturnType<typeof ownDaemon>>) {
  const sessions = async () => (await m.client().listSessions({})).sessions
  const runs = () => m.client().listAgentRuns({})
  const known = new Set(
    [...(await sessions()), ...(await runs())].map((one) => ('run_id' in one ? one.run_id : one.session_id)),
  )
  return {
    sessions: async () => (await sessions()).filter(({ session_id }) => !known.has(session_id)),
    runs: async () => (await runs()).filter(({ run_id }) => !known.has(run_id)),
  }
}

const look = call('Read', { file_path: 'a.txt' })
const hasText = (text: string) => text !== ''

test('[MUS-271] sm ask prints the answer as it comes, and the session is over with it', async () => {
  const m = await usual()
  const steps = (more: object) =>
    script({ text: 'I look.', ...look }, { text: 'one two three four', ...more })
  // The rest of this answer comes long after the test.
  const slow = m.begin(['ask', 'boss', steps({ chunkMs: 60_000 })], '')
  const early = await eventually(
    async () => slow.out(),
    (out) => out.includes('I look.\none'),
  )
  expect(early).not.toContain('four')
  slow.child.kill('SIGINT')
  await slow.ended
  const added = await since(m)
  const asked = m.begin(['ask', 'boss', steps({})], '')
  expect(await asked.ended).toEqual({ code: 0, out: 'I look.\none two three four\n', err: '' })
  await expect
    .poll(added.sessions)
    .toMatchObject([{ agent_type: 'boss', status: 'completed', completion_message: 'one two three four' }])
})

test('[MUS-271][LOG-142] the answer as data, a prompt from a pipe, and a session that goes on', async () => {
  const m = await usual()
  const added = await since(m)
  const prompt = `What is it?\n${script(look, { text: 'It is 42.' })}`
  const first = m.begin(['ask', 'boss', '-', '--json', '--keep'], prompt)
  const { code, out } = await first.ended
  expect(code).toBe(0)
  const answer = JSON.parse(out) as { session_id: string; duration_ms: number }
  expect(answer).toMatchObject({
    run_id: expect.stringMatching(/^run_/),
    agent: 'boss',
    status: 'completed',
    text: 'It is 42.',
    output: null,
    usage: { input: expect.any(Number) },
    tools: [{ agent: 'boss', tool: 'Read', target: 'a.txt', status: 'completed', reason: null }],
  })
  const again = await m.sm(
    'ask',
    'maker',
    script({ text: 'Made.' }),
    '--session',
    answer.session_id,
    '--mode',
    'chat',
  )
  expect(again).toMatchObject({ code: 0, out: 'Made.\n' })
  await expect.poll(added.sessions).toMatchObject([{ session_id: answer.session_id, status: 'idle' }])
  const { document } = await m.client().exportLog({ id: answer.session_id })
  expect(document).toMatchObject({ task_title: 'What is it?', user_prompt: prompt })
})

test('[MUS-271] what fails is told with its exit code, and nothing is begun for what cannot be', async () => {
  const m = await usual()
  const added = await since(m)
  for (const [args, code, err] of [
    [['finder', 'x'], 2, /subagent.* talk to one of: .*boss/],
    [['nobody', 'x'], 3, /no agent type nobody/],
    [['boss'], 2, /the prompt is empty/],
    [['boss', 'x', '--session', 'ffffffff'], 3, /ffffffff/],
  ] as const) {
    const ended = await m.sm('ask', ...args)
    expect([ended.code, ended.out]).toEqual([code, ''])
    expect(ended.err).toMatch(err)
  }
  expect(await added.sessions()).toEqual([])
  const failed = await m.sm('ask', 'boss', script({ status: 400 }))
  expect(failed).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^sm: boss failed: /) })
  const late = await m.sm('ask', 'boss', script({ text: 'late', delayMs: 60_000 }), '--timeout', '1')
  expect(late).toMatchObject({
    code: 4,
    err: expect.stringMatching(/keeps working: sm chat --session [0-9a-f]{8}/),
  })
  const statuses = async () => (await added.sessions()).map(({ status }) => status).toSorted()
  await expect.poll(statuses).toEqual(['error', 'running'])
})

test('[MUS-271][RUN-46] an interrupt cancels the run and says so', async () => {
  const m = await usual()
  const added = await since(m)
  const asked = m.begin([
    'ask',
    'boss',
    script({ text: 'I begin', ...look }, { text: 'late', delayMs: 60_000 }),
  ])
  await eventually(async () => asked.out(), hasText)
  asked.child.kill('SIGINT')
  expect(await asked.ended).toMatchObject({ code: 130, err: expect.stringContaining('Cancelled: boss') })
  await expect.poll(added.runs).toMatchObject([{ status: 'cancelled' }])
  await expect.poll(added.sessions).toMatchObject([{ status: 'abandoned' }])
})

test('[MUS-271][RUN-46] a session that stays loses its run alone, and the end of a subagent is not the answer', async () => {
  const m = await usual()
  const child = script({ text: 'It is 42.' })
  const kept = m.begin([
    'ask',
    'boss',
    script(
      call('Task', { subagent_type: 'finder', prompt: child }),
      { text: 'All done.' },
      { text: 'never' },
    ),
    '--keep',
  ])
  const { code, out, err } = await kept.ended
  expect({ code, out }).toEqual({ code: 0, out: 'All done.\n' })
  const session = /sm chat --session ([0-9a-f]{8})/.exec(err)?.[1] ?? ''
  const late = script({ text: 'I begin', ...look }, { text: 'late', delayMs: 60_000 })
  const asked = m.begin(['ask', 'boss', late, '--session', session])
  await eventually(async () => asked.out(), hasText)
  asked.child.kill('SIGINT')
  expect((await asked.ended).code).toBe(130)
  const last = async () => (await m.client().listAgentRuns({ session_id: session }))[0]
  await expect.poll(last).toMatchObject({ status: 'cancelled' })
  await expect.poll(() => m.client().getSession({ id: session })).toMatchObject({ status: 'idle' })
})

test('[MUS-271][MUS-259] what waits for a decision is told with the way to answer it', async () => {
  const m = await ownDaemon('runtime: { approvals: [{ tool: Bash, action: ask }] }\n')
  const asked = m.begin(['ask', 'boss', script(call('Bash', { command: 'echo hi' }), { text: 'It ran.' })])
  const told = await eventually(
    async () => asked.err(),
    (err) => err.includes('sm approve'),
  )
  expect(told).toContain('echo hi')
  const id = /sm approve (\S+)/.exec(told)?.[1] ?? ''
  expect((await m.sm('approve', id)).code).toBe(0)
  expect(await asked.ended).toMatchObject({ code: 0, out: 'It ran.\n' })
})

test('[MUS-271] an answer is waited for through a restart of the daemon', async () => {
  const m = await ownDaemon('runtime: { on_restart: resume }\n')
  // Before the restart it cannot end, however late that comes.
  const untilAllowed = call('Bash', { command: 'until [ -e go ]; do sleep 0.1; done' })
  const asked = m.begin(['ask', 'boss', script(look, untilAllowed, { text: 'It is 42.' })])
  await eventually(
    () => m.client().listSessions({}),
    ({ sessions }) => (sessions[0]?.total_tools ?? 0) > 0,
  )
  await m.restart()
  writeFileSync(join(m.project, 'go'), '')
  const { code, out, err } = await asked.ended
  expect({ code, out }).toEqual({ code: 0, out: 'It is 42.\n' })
  expect(err).toContain('trying again')
})

test('[SM-106] sm what --model has a model say what a session is about, in a session that shows what it cost', async () => {
  const m = await usual()
  const kept = await m.sm('ask', 'boss', script({ text: 'The login form is there.' }), '--keep', '--json')
  const { session_id: id } = JSON.parse(kept.out) as { session_id: string }
  const told = await m.sm('what', id, '--model', 'scripted/scripted-1', '--json')
  expect(told).toMatchObject({ code: 0, err: '' })
  const data = JSON.parse(told.out) as { made_by: string }
  expect(data).toMatchObject({ session_id: id, summary: 'The login form is there.' })
  const [, by] = /^summarizer on scripted\/scripted-1, session ([0-9a-f]{8})$/.exec(data.made_by) ?? []
  const session = () => m.client().getSession({ id: by ?? '' })
  await expect.poll(session).toMatchObject({ agent_type: 'summarizer', status: 'completed' })
  const { entries } = await m.client().getTranscript({ id: by ?? '', limit: 50 })
  expect(entries[0]?.text).toContain('[agent] The login form is there.')
  expect(await m.sm('what', id, '--model', 'nobody/none')).toMatchObject({
    code: 1,
    err: expect.stringContaining('nobody'),
  })
})

test('[MUS-265] a provider whose models read less at once has its conversations made shorter sooner', async () => {
  const server = await startScriptedModel({})
  onTestFinished(() => server.close())
  const provider = (name: string, more: object) => ({
    [name]: { protocol: 'anthropic', base_url: `${server.url}/v1`, key_env: 'MUSTER_CONFIG', ...more },
  })
  const providers = { ...provider('small', { context_tokens: 8000 }), ...provider('usual', {}) }
  const m = await ownDaemon(JSON.stringify({ models: { providers } }))
  const prompt = script({ ...look, usage: { input: 7000 } }, { text: 'Done.' })
  expect(await m.sm('ask', 'boss', prompt, '--model', 'usual/scripted-1')).toMatchObject({ code: 0 })
  // Told its task anew, the scripted model begins its script again; how that ends is not what counts here.
  await m.sm('ask', 'boss', prompt, '--model', 'small/scripted-1')
  const { events } = await m.client().listEvents({ limit: 1000 })
  const asked = events.filter(({ type }) => type === 'agent.spawned').map(({ runId }) => runId)
  const shortened = events.filter(({ type }) => type === 'context.compacted').map(({ runId }) => runId)
  expect(new Set(shortened)).toEqual(new Set([asked[1]]))
})
