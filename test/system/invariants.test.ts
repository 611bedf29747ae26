import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, script } from '../support/own-agents.ts'
import { agentFile, is, type Json, runtimeDaemon } from '../support/runtime-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { sleeping } from '../support/sleeping.ts'
import { slowdown } from '../support/slowdown.ts'
import { watchedModel } from '../support/watched-model.ts'

type Machine = Awaited<ReturnType<typeof runtimeDaemon>>

/** Main agents that may do less than the boss, and another subagent. */
const agents = {
  narrow: agentFile('main').replace(
    'policy: [Patch, Finalize, Delegate]',
    'policy: { allow: [Delegate], delegate_targets: [finder] }',
  ),
  reader: agentFile('main').replace('tools: ["*"]', 'tools: [Read, Write, Bash]'),
  harmless: agentFile('main').replace('policy: [Patch, Finalize, Delegate]', 'policy: []'),
  other: agentFile('subagent'),
}
const usual = shared(() => runtimeDaemon({ agents }))

/** Lets the boss do this, and answers what its calls and those of its subagents came to. */
const played = (m: Machine, ...steps: readonly object[]) => playedBy(m, 'boss', ...steps)

async function playedBy(m: Machine, agent_id: string, ...steps: readonly object[]) {
  const { session_id } = await m.say(script(...steps, { text: 'That was it.' }), { agent_id })
  const runs = await eventually(
    () => m.runs(`session_id=${String(session_id)}`),
    (found) => found.length > 0 && found.every(({ status }) => status !== 'running'),
  )
  const tools = await Promise.all(
    runs.map(async ({ run_id }) => {
      const { body } = await m.ask(`/api/agent-context?run_id=${String(run_id)}&view=raw`)
      return (body as Json)['tools'] as Json[]
    }),
  )
  return { runs, session_id: String(session_id), tools: tools.flat() }
}

const task = (subagent_type: string, ...steps: readonly object[]) =>
  call('Task', { subagent_type, prompt: script(...steps, { text: 'Done.' }) })
const statuses = (tools: readonly Json[], name: string) =>
  tools.filter(({ tool }) => tool === name).map(({ status }) => String(status))

describe('the nine hard invariants', () => {
  test('[RUN-13] 1: a main agent may message a main agent, and nobody else', async () => {
    const m = await usual()
    const { tools, session_id } = await played(
      m,
      call('SendMessage', { to: 'maker', message: script({ text: 'Got it.' }) }),
      call('SendMessage', { to: 'finder', message: 'x' }),
      call('SendMessage', { to: '../maker', message: 'x' }),
      call('SendMessage', { to: 'boss', message: 'x' }),
    )
    expect(statuses(tools, 'SendMessage').toSorted()).toEqual(['completed', 'denied', 'denied', 'denied'])
    await m.until(is('Message', { from: 'maker', content: 'Got it.' }))
    expect((await m.runs(`session_id=${session_id}`)).map(({ agent_id }) => String(agent_id)).sort()).toEqual(
      ['boss', 'maker'],
    )
  })

  test('[RUN-14][RUN-4] 2: a main agent delegates to the subagents it may name; a forged target is refused', async () => {
    const { tools, runs } = await playedBy(
      await usual(),
      'narrow',
      task('finder'),
      task('other'),
      task('maker'),
      task('nobody'),
      task('finder\u0000'),
      task('FINDER'),
    )
    expect(statuses(tools, 'Task')).toEqual([
      'completed',
      'denied',
      'denied',
      'denied',
      'denied',
      'completed',
    ])
    expect(runs.filter(({ agent_kind }) => agent_kind === 'subagent')).toHaveLength(2)
  })

  test('[RUN-15][RUN-36] 3: a subagent returns to the run that it works for, once, whatever its end', async () => {
    const m = await usual()
    const { tools, session_id } = await played(
      m,
      task('finder'),
      call('Task', { subagent_type: 'finder', prompt: script({ status: 400, text: '' }) }),
    )
    expect(statuses(tools, 'Task')).toEqual(['completed', 'failed'])
    const results = await m.until(is('SubagentResult', { subagent_id: 'finder', session_id }), 2)
    expect(results.map(({ data }) => (data['outcome'] as Json)['status'])).toEqual(['completed', 'failed'])
    expect(results.every(({ data }) => data['parent_id'] === 'boss')).toBe(true)
  })

  test('[RUN-16][RUN-6] 4: a subagent reaches no subagent, and nobody speaks to one from outside', async () => {
    const m = await usual()
    const { tools, runs, session_id } = await played(
      m,
      task('finder', task('finder'), call('SendMessage', { to: 'finder', message: 'x' })),
    )
    expect(statuses(tools, 'Task').toSorted()).toEqual(['completed', 'denied'])
    expect(statuses(tools, 'SendMessage')).toEqual(['denied'])
    expect(runs).toHaveLength(2)
    for (const message of ['x', '@finder x']) {
      const body = { project_root: m.project, agent_id: 'finder', message, session_id }
      expect((await m.ask('/api/chat', body)).status).toBe(400)
    }
  })

  test('[RUN-17] 5: a subagent spawns nothing, by no tool, no command and no request to the daemon', async () => {
    const m = await usual()
    const body = JSON.stringify({ project_root: m.project, agent_id: 'maker', message: 'x' })
    const bash = (command: string) => call('Bash', { command })
    const sessions = async () => (await m.daemon.client.listSessions({})).sessions.length
    const [before, sessionsBefore] = [(await m.runs()).length, await sessions()]
    const { runs } = await played(
      m,
      task(
        'finder',
        task('maker'),
        call('Handoff', { to: 'maker', reason: 'x' }),
        bash(`curl -s -m 5 -H 'content-type: application/json' -d '${body}' ${m.daemon.url}/api/chat`),
        bash(
          `curl -s -m 5 -d '{}' -H "authorization: Bearer $(cat ${m.home}/operator.token)" ${m.daemon.url}/api/v1/sessions`,
        ),
        bash('sm ask maker hello; sm spawn claude hello; env | grep -i muster'),
      ),
    )
    expect(runs.map(({ agent_id }) => agent_id)).toEqual(['finder', 'boss'])
    expect((await m.runs()).length - before).toBe(2)
    expect((await sessions()) - sessionsBefore).toBe(1)
  })

  test('[RUN-18] 6: delegation is one level deep, also when a file makes the subagent a main agent meanwhile', async () => {
    const m = await runtimeDaemon()
    const said = m.say(
      script(task('finder', call('Bash', { command: 'sleep 2' }), task('worker'), task('finder')), {
        text: 'ok',
      }),
    )
    const { session_id } = await said
    await m.until(is('SubagentSpawned', { subagent_id: 'finder' }))
    writeFileSync(join(m.home, '.config/muster/agents/finder.md'), agentFile('main'))
    writeFileSync(join(m.home, '.config/muster/agents/worker.md'), agentFile('subagent'))
    await m.until(is('Outcome', { agent_id: 'boss' }))
    expect(await m.runs(`session_id=${String(session_id)}`)).toHaveLength(2)
  })

  test('[RUN-19] 7: a cancelled parent takes its children, their processes and their requests along', async () => {
    const model = await watchedModel()
    onTestFinished(() => model.close())
    const m = await runtimeDaemon({ config: model.config })
    // No other process of this machine sleeps for so long.
    const seconds = `120.${process.pid}19`
    await m.say(
      script({
        tools: [
          {
            name: 'Task',
            input: {
              subagent_type: 'finder',
              prompt: script(call('Bash', { command: `sleep ${seconds} & sleep ${seconds}; wait` })),
            },
          },
          { name: 'Task', input: { subagent_type: 'finder', prompt: script({ hang: true }) } },
        ],
      }),
    )
    await eventually(
      async () => ({ processes: sleeping(seconds).length, requests: model.open().length }),
      ({ processes, requests }) => processes === 2 && requests === 1,
    )
    const [hanging] = model.open()
    const [main] = (await m.runs()).filter(({ agent_kind }) => agent_kind === 'main')
    const { body } = await m.ask('/api/agent-cancel', { run_id: main?.['run_id'] })
    expect((body as Json)['cancelled_run_ids']).toHaveLength(3)
    const ended = await eventually(
      () => m.runs(),
      (found) => found.every(({ status }) => status === 'cancelled'),
      5000 * slowdown(),
    )
    expect(ended).toHaveLength(3)
    await eventually(
      async () => ({ processes: sleeping(seconds), requests: model.open() }),
      ({ processes, requests }) => processes.length === 0 && requests.length === 0,
      5000 * slowdown(),
    )
    expect(hanging?.isWhole).toBe(false)
    expect(m.frames.filter(is('SubagentResult', { subagent_id: 'finder' }))).toHaveLength(2)
  })

  test('[RUN-20][RUN-21][RUN-22] 8: only the tools of the agent run, under every name, through links and by every trick', async () => {
    const m = await usual()
    const outside = join(m.home, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, join(m.project, 'link'))
    const { tools } = await playedBy(
      m,
      'reader',
      call('Grep', { pattern: 'x' }),
      call('grep', { pattern: 'x' }),
      call('Edit', { file_path: 'a.txt', old_string: 'forty', new_string: 'x' }),
      call('Agent', { prompt: 'x' }),
      call('mcp__files__write', { path: 'x' }),
      call('Write', { file_path: 'link/x.txt', content: 'x' }),
      call('Write', { file_path: `${outside}/x.txt`, content: 'x' }),
      call('Write', { file_path: 'link/../../outside/x.txt', content: 'x' }),
      call('Bash', {
        command: `echo x > ${outside}/x.txt; echo x > link/x.txt; ln -s ${outside} two; echo x > two/x.txt`,
      }),
      call('Bash', { command: `cat ${m.home}/operator.token` }),
      call('Write', { file_path: 'fine.txt', content: 'x' }),
    )
    expect(tools.map(({ status }) => status)).toEqual([
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
      'failed',
      'failed',
      'completed',
    ])
    expect(existsSync(join(outside, 'x.txt'))).toBe(false)
    expect(readFileSync(join(m.project, 'a.txt'), 'utf8')).toBe('forty-two\n')
  })

  test('[RUN-23][RUN-3] 9: without the policy nothing is changed, finalized or delegated, by no tool and no command', async () => {
    const m = await usual()
    const { tools, runs } = await playedBy(
      m,
      'harmless',
      call('Write', { file_path: 'new.txt', content: 'x' }),
      call('Edit', { file_path: 'a.txt', old_string: 'forty', new_string: 'x' }),
      call('Finalize', { title: 'x' }),
      task('finder'),
      call('Handoff', { to: 'maker', reason: 'x' }),
      call('Bash', { command: 'echo x > new.txt; echo x >> a.txt; git commit -qam x; rm -rf .git' }),
      call('Bash', { command: "python3 -c \"open('new.txt','w').write('x')\"" }),
    )
    expect(tools.slice(0, 5).map(({ status }) => status)).toEqual([
      'denied',
      'denied',
      'denied',
      'denied',
      'denied',
    ])
    expect(runs).toHaveLength(1)
    expect(existsSync(join(m.project, 'new.txt'))).toBe(false)
    expect(existsSync(join(m.project, '.git/HEAD'))).toBe(true)
    expect(readFileSync(join(m.project, 'a.txt'), 'utf8')).toBe('forty-two\n')
  })
})
