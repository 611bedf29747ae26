import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import { type EventType, eventTypes } from '../../src/contract/event.ts'
import { runProgram } from '../cli/run-sm.ts'
import { ownDaemon } from './asked-daemon.ts'
import { cliSessions, scripted } from './cli-session.ts'
import { cliPath, clis, missingCli } from './clis.ts'
import { crewClis } from './crew-clis.ts'
import { crewDaemon } from './crew-daemon.ts'
import type { Part } from './crew-model.ts'
import { done, said, write } from './crew-play.ts'
import { everyEventDrafts } from './every-event.ts'
import type { CliName } from './hermetic.ts'
import { call, script } from './own-agents.ts'
import { smProgram } from './programs.ts'
import { eventually } from './session-daemon.ts'

/** What is played to get a journal of each kind; each answers the state folder of its daemon, which it has stopped. */
export const journalScenarios: Readonly<Record<string, () => Promise<string>>> = {
  demonstration,
  crew,
  script: scriptRun,
  sessions,
  'built-in-agents': builtInAgents,
  imports,
  'every-event': everyEvent,
}

/** `sm demo`, with its work landed. */
async function demonstration(): Promise<string> {
  const m = await ownDaemon('models: { default: anthropic/claude-opus-5-5 }\n')
  const told = JSON.parse((await m.sm('demo', '--json')).out) as { session_id: string }
  await m.sm('approve', told.session_id)
  await eventually(
    () => m.client().listEvents({ type: 'approval.granted', limit: 10 }),
    ({ events }) => events.length > 0,
  )
  await workflowEnded(() => m.client())
  await m.sm('down')
  return m.home
}

/** Claude Code develops, Codex reviews; the first review asks for a change. */
async function crew(): Promise<string> {
  needs('claude', 'codex')
  const m = await crewClis(crewParts)
  const { workflow_id } = await m.crew('Add one and two.')
  const asked = await m.until(workflow_id, ({ approvals }) => approvals.length > 0)
  await m.client.decideApproval({ id: asked.approvals[0]?.session_id ?? '', verdict: 'allow', scope: 'once' })
  await m.until(workflow_id, (flow) => flow.status !== 'running' || isToLand(flow))
  await stopped(m.home)
  return m.home
}

const task = (task_id: string) => ({
  task_id,
  title: `Add ${task_id}`,
  description: `${task_id}.mjs exports a number. SCRIPT=play`,
  scope: [`${task_id}.mjs`],
  acceptance_criteria: ['the tests pass'],
})
const bash = (command: string) => ({ tools: [{ name: 'Bash', input: { command } }] })
const source = 'export const x = 1\n'

const crewParts: readonly Part[] = [
  {
    when: '"review_id": "review-2"',
    steps: [said({ verdict: 'approved', summary: 'Good now.', findings: [], addressed: ['r1-one'] })],
  },
  {
    when: '"review_id": "review-1"',
    steps: [
      { tools: [{ name: 'exec_command', input: { cmd: 'git diff --stat HEAD~1' } }] },
      said({
        verdict: 'changes_requested',
        summary: 'two is one.',
        findings: [
          { finding_id: 'one', severity: 'major', category: 'bug', file: 'two.mjs', description: 'it is 1' },
        ],
      }),
    ],
  },
  {
    when: '"task_id": "two-rev1"',
    steps: [
      { tools: [{ name: 'Read', input: { file_path: 'two.mjs' } }] },
      { tools: [{ name: 'Edit', input: { file_path: 'two.mjs', old_string: '1', new_string: '2' } }] },
      done('It is 2 now.'),
    ],
  },
  {
    when: '"task_id": "two"',
    // The last command is one that nobody can tell is harmless, so a person is asked.
    steps: [write('two.mjs', source), bash('node --test'), bash('node -e 1'), done('two is there.')],
  },
  {
    when: '"task_id": "one"',
    steps: [write('one.mjs', source), write('outside.mjs', source), done('one is there.')],
  },
  {
    when: 'You are the architect',
    steps: [
      said({ summary: 'Two files.', tasks: [task('one'), task('two')], checks: { test: 'node --test' } }),
    ],
  },
]

/** A workflow script that is approved, survives a kill of the daemon, and is forked. */
async function scriptRun(): Promise<string> {
  const parts = ['Ada', 'Bob'].map((name) => ({
    when: `Greet ${name}`,
    steps: [
      {
        tools: [
          { name: 'Glob', input: { pattern: '*' } },
          { name: 'Read', input: { file_path: 'greet.mjs' } },
        ],
      },
      { text: `Hello, ${name}!` },
    ],
  }))
  const m = await crewDaemon({ parts })
  writeFileSync(join(m.repo, 'greet-all.ts'), greetAll)
  const args = { names: ['Ada', 'Bob'] }
  const begun = await m.client().startScript({
    script: './greet-all.ts',
    project_root: m.repo,
    args,
    cli: 'own',
    limits: {},
  })
  await m.until(begun.workflow_id, ({ approvals }) => approvals.length > 0)
  await m.kill()
  await m.until(begun.workflow_id, ({ status }) => status === 'running')
  await m.client().decideApproval({ id: begun.session_id, verdict: 'allow', scope: 'once' })
  await m.ended(begun.workflow_id)
  const fork = await m.client().forkWorkflow({ id: begun.workflow_id })
  await m.ended(fork.workflow_id)
  await stopped(m.home)
  return m.home
}

const greetAll = `
export const meta = { name: 'greet-all', description: 'Greets everybody', phases: ['greet', 'sum'], tools: ['Read'] }
export default async function ({ args, agent, parallel, phase, checkpoint }) {
  await phase('greet')
  const said = await parallel(args.names.map((name) => () => agent('Greet ' + name + '. SCRIPT=play')))
  await checkpoint({ said })
  await phase('sum')
  return { said }
}
`

/** A tree of terminals with the real Claude Code: permission, milestone, message, completion, kill, restarts. */
async function sessions(): Promise<string> {
  needs('claude')
  const m = await cliSessions('claude')
  const parent = await m.spawnShell({ name: 'lead' })
  const steps = [
    { text: 'Half.', tools: [shell('sm checkpoint "half way (1/2)"')], usage: { input: 1000, output: 20 } },
    { text: 'I ask first.', tools: [shell('echo hi > made.txt')], usage: { input: 1200, output: 25 } },
    {
      text: 'Done.',
      tools: [shell('sm complete "All 26 tests passing."')],
      usage: { input: 1500, output: 30 },
    },
    { text: 'That was all.', usage: { input: 1600, output: 7 } },
  ]
  const child = await m.spawn(scripted(steps, 'Please write a file.'), {
    permission_mode: 'manual',
    parent: parent.session_id,
  })
  await m.asked('echo hi')
  await eventually(
    () => m.client.getOutput({ id: child.session_id, lines: 60 }),
    ({ lines }) => lines.join('\n').includes('1. Yes'),
    30_000,
  )
  await m.restart('SIGKILL')
  await m.asked('echo hi')
  await m.client.decideApproval({ id: child.session_id, verdict: 'allow' })
  await ended(m, child.session_id)

  const other = await m.spawn(scripted([{ text: 'Ready.' }], 'Wait for me.'), { parent: parent.session_id })
  await eventually(
    () => m.client.getSession({ id: other.session_id }),
    ({ status }) => status === 'idle',
    60_000,
  )
  await m.sm('send', other.session_id, scripted([{ text: 'I have read it.' }], 'Read this.'), '--wait', '40')
  await m.restart('SIGTERM')
  await m.client.killSession({ id: other.session_id, force: true })
  await ended(m, other.session_id)
  await m.client.killSession({ id: parent.session_id, force: true })
  await stopped(m.home)
  return m.home
}

const shell = (command: string) => ({ name: 'Bash', input: { command, description: 'as the script says' } })

const ended = (m: Pick<Awaited<ReturnType<typeof cliSessions>>, 'client'>, id: string) =>
  eventually(
    () => m.client.getSession({ id }),
    ({ completion_status }) => completion_status !== null,
    60_000,
  )

/** Built-in agents: tools, a question of policy, a subagent, the blackboard, a run that fails. */
async function builtInAgents(): Promise<string> {
  const m = await ownDaemon('runtime: { approvals: [{ tool: Bash, action: ask }] }\n')
  const child = script(call('Read', { file_path: 'a.txt' }), { text: 'It says forty-two.' })
  const asking = m.begin([
    'ask',
    'boss',
    `Decide. ${script(
      call('Blackboard', { operation: 'put', id: 'db', type: 'decision', content: 'Postgres 日本' }),
      call('Task', { subagent_type: 'finder', prompt: child }),
      call('Bash', { command: 'echo hello' }),
      call('Write', { file_path: 'b.txt', content: 'long '.repeat(5000) }),
      { text: 'Done.' },
    )}`,
  ])
  asking.child.stdin?.end()
  const { approvals } = await eventually(
    () => m.client().listApprovals({}),
    (found) => found.approvals.length > 0,
  )
  await m.sm('approve', approvals[0]?.approval_id ?? '')
  await asking.ended
  await m.sm('ask', 'boss', script({ status: 400, text: '' }))
  await m.sm('down')
  return m.home
}

/** Session files of every kind that was met, one of them twice; small segments, so that the chain crosses files. */
async function imports(): Promise<string> {
  const m = await ownDaemon(`journal: { segment_bytes: ${64 * 1024} }\n`)
  const folder = join(import.meta.dirname, '..', 'golden', 'std-008')
  const files = readdirSync(folder).toSorted()
  for (const file of [...files, ...files.slice(0, 1)]) {
    writeFileSync(join(m.project, file), readFileSync(join(folder, file)))
    await m.sm('log', 'import', file)
  }
  await m.sm('down')
  return m.home
}

/** An event of each type there is, reported from outside. */
async function everyEvent(): Promise<string> {
  const m = await ownDaemon()
  const missing = new Set(eventTypes)
  for (const events of everyEventDrafts()) {
    const { results } = await m.client().appendEvents({ events: [...events] })
    for (const [i, { status }] of results.entries())
      if (status !== 'rejected') missing.delete(events[i]?.type as EventType)
  }
  if (missing.size > 0) throw new Error(`never written: ${[...missing].join(', ')}`)
  await m.sm('down')
  return m.home
}

function needs(...names: readonly CliName[]): void {
  const missing = clis.find(({ name }) => names.includes(name) && !cliPath(name))
  if (missing) throw new Error(missingCli(missing))
}

type Asked = ReturnType<Awaited<ReturnType<typeof ownDaemon>>['client']>

const workflowEnded = (client: () => Asked) =>
  eventually(
    () => client().listWorkflows({}),
    ({ workflows }) => workflows.every(({ status }) => status !== 'running'),
    60_000,
  )

/** Stops a daemon as a person does: when the command is back, nothing more is written. */
const stopped = (home: string) =>
  runProgram(process.execPath, [smProgram, 'down'], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, MUSTER_HOME: home },
  })
