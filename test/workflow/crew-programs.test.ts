import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { shortId } from '../../src/contract/ids.ts'
import type { WorkflowDetail } from '../../src/contract/workflow-routes.ts'
import { expectSameAgents, viewsOf } from '../support/agents-everywhere.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

/** A crew of one agent program, whose turns are played by the test. */
async function oneProgram(more: object = {}) {
  const m = await standInClaude()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', m.work, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
      encoding: 'utf8',
    })
  git('init', '-q', '-b', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'Nothing yet')
  const of = async <T extends EventType>(type: T) =>
    (await m.m.client.listEvents({ type, limit: 1000 })).events as EventOf<T>[]
  const asked = { request: 'Write a note', project_root: m.work, crew: 'solo', cli: 'claude', ...more }
  const { workflow_id, session_id } = await m.m.client.startCrew(asked)
  const [launched] = await eventually(
    () => of('session.launched'),
    (all) => all.length > 0,
  )
  const id = launched?.sessionId
  if (id === undefined) throw new Error('nothing was started')
  const started = (await of('session.started')).find(({ sessionId }) => sessionId === id)
  const program = { id, session_id: shortId(id) }
  return {
    m,
    git,
    of,
    workflow_id,
    session_id,
    program,
    folder: started?.payload.workingDir ?? '',
    /** When it has ended; work that waits to be landed is landed. */
    async ended() {
      const flow = () => m.m.client.getWorkflow({ id: workflow_id })
      const isOver = ({ status }: WorkflowDetail) => status !== 'running'
      const last = await eventually(flow, (now) => isOver(now) || isToLand(now))
      if (isOver(last)) return last
      await m.m.client.decideApproval({ id: session_id, verdict: 'allow', scope: 'once' })
      return eventually(flow, isOver)
    },
  }
}

test('[MUS-280] an agent program is stopped at the limit of its run: its program is gone, its work is kept, and it is told once', async () => {
  const c = await oneProgram({ budget: { tokens: 100 } })
  writeFileSync(join(c.folder, 'note.txt'), 'half of it\n')
  await c.m.turn(c.program, { prompt: 'Write a note', tokens: 60, isOpen: true })
  expect(await c.of('budget.exceeded')).toEqual([])
  const tools = [{ name: 'Read', input: { file_path: 'note.txt' } }]
  await c.m.turn(c.program, { prompt: 'Write a note', tools, tokens: 70, isOpen: true }).catch(() => {})
  const flow = await c.ended()
  expect(flow).toMatchObject({
    status: 'failed',
    detail: 'it used 130 of 100 tokens and was stopped',
    tokens: 130,
    agents: 1,
    partial: { tasks: [{ task_id: 'request', files: ['note.txt'] }] },
  })
  expect(c.git('show', `muster/${c.workflow_id}.request:note.txt`)).toBe('half of it\n')
  await eventually(
    async () => c.m.processes(),
    (all) => all.length === 0,
  )
  expect(await c.of('budget.exceeded')).toHaveLength(1)
  expect(await c.of('workflow.failed')).toHaveLength(1)
  expect(
    (await c.of('session.completed')).filter(({ sessionId }) => sessionId === c.program.id),
  ).toHaveLength(1)
  expect(await c.of('session.started')).toHaveLength(2)
})

const said = '```json\n{ "status": "completed", "summary": "It is there." }\n```'

test('[MUS-275] a crew of agent programs goes on after kills of the daemon: before its prompt is taken, and in its turn', async () => {
  const c = await oneProgram()
  await c.m.m.restart('SIGKILL')
  writeFileSync(join(c.folder, 'note.txt'), 'a note\n')
  await c.m.turn(c.program, { prompt: 'Write a note', tokens: 10, isOpen: true })
  await eventually(
    () => c.of('agent.spawned'),
    (all) => all.some(({ sessionId }) => sessionId === c.program.id),
  )
  await c.m.m.restart('SIGKILL')
  await c.m.hook(c.program, {
    hook_event_name: 'Stop',
    last_assistant_message: said,
    background_tasks: [],
    stop_hook_active: false,
  })
  const flow = await c.ended()
  expect(flow).toMatchObject({
    status: 'completed',
    agents: 1,
    report: {
      tasks: [{ task_id: 'request', state: 'completed', attempts: 1, files: [{ path: 'note.txt' }] }],
    },
  })
  const all = (await c.m.m.client.listEvents({ limit: 1000 })).events as AgentEvent[]
  // The run of the crew itself is not the program's.
  const root = all.find(({ type, sessionId }) => type === 'agent.spawned' && sessionId !== c.program.id)
  const events = all.filter(({ spanId }) => spanId !== root?.spanId)
  const turn = events.find(({ type }) => type === 'agent.spawned')
  expect(turn).toMatchObject({ sessionId: c.program.id, parentRunId: root?.runId })
  const crew = await c.m.m.client.getSession({ id: c.session_id })
  expect((await expectSameAgents(viewsOf(c.m.m.client), crew)).delegated).toEqual([c.program.id])
  const once = (type: EventType) =>
    expect(
      events.filter((event) => event.type === type),
      type,
    ).toHaveLength(1)
  for (const type of [
    'session.launched',
    'agent.spawned',
    'agent.completed',
    'agent.task.assigned',
    'task.completed',
    'workflow.finalized',
  ] as const)
    once(type)
  expect(
    events.flatMap((event) =>
      event.type === 'agent.message.created' && event.payload.messageType ? [event.payload.messageType] : [],
    ),
  ).toEqual(['task_assignment', 'acknowledgment', 'task_completion'])
  expect(await c.of('retry.scheduled')).toEqual([])
})

test('[MUS-275] a turn that an agent program ended while no daemon was there is found in its record', async () => {
  const c = await oneProgram()
  await c.m.turn(c.program, { prompt: 'Write a note', tokens: 10, isOpen: true })
  await c.m.m.restart('SIGKILL', async () => {
    writeFileSync(join(c.folder, 'note.txt'), 'a note\n')
    await c.m.write(
      c.program,
      c.m.line({ id: 'msg_last', tokens: 5, content: [{ type: 'text', text: said }] }),
    )
  })
  expect(await c.ended()).toMatchObject({
    status: 'completed',
    agents: 1,
    tokens: 15,
    report: { tasks: [{ state: 'completed', attempts: 1, files: [{ path: 'note.txt' }] }] },
  })
})

const script = `
export const meta = { name: 'nothing', description: 'Does nothing', phases: [] }
export default async function () {}
`

test('[RUN-17] an agent program that works for a crew starts nothing and leaves it in no way; one that was spawned may', async () => {
  const c = await oneProgram()
  writeFileSync(join(c.m.work, 'nothing.ts'), script)
  const at = { project_root: c.m.work }
  type Begin = (client: typeof c.m.client, id: string) => Promise<unknown>
  const ways: Record<string, Begin> = {
    spawn: (client) => client.spawnSession({ agent_type: 'shell', prompt: '' }),
    'dry run': (client) => client.spawnSession({ agent_type: 'shell', prompt: '', dry_run: true }),
    crew: (client) => client.startCrew({ ...at, request: 'x', crew: 'solo', cli: 'claude' }),
    script: (client) => client.startScript({ ...at, script: './nothing.ts', cli: 'own', limits: {} }),
    chat: (client) => client.chat({ ...at, agent_id: 'lead', message: 'x' }),
  }
  const begun = async () => (await c.of('session.started')).length
  const onDuty = c.m.m.as(c.program.session_id).client
  const before = await begun()
  for (const [name, begin] of Object.entries(ways))
    await expect(begin(onDuty, c.program.session_id), name).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringMatching(new RegExp(`works for ${c.workflow_id}.*blockers.*architect`)),
    })
  expect(await begun()).toBe(before)
  // At the root it would work for nobody, and nothing would hold it.
  await expect(onDuty.adoptSession({ id: c.program.session_id })).rejects.toMatchObject({ code: 'denied' })
  expect(await c.m.session(c.program)).toMatchObject({ parent_session_id: c.session_id })

  const free = await c.m.spawn({ agent_type: 'developer' })
  const { client } = c.m.m.as(free.session_id)
  await ways['spawn']?.(client, free.session_id)
  await ways['script']?.(client, free.session_id)
  expect(await begun()).toBe(before + 3)
})
