import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import {
  type JsonRouteName,
  type Routes,
  routeEntries,
  routes,
  type WireEvent,
} from '../../src/contract/routes.ts'
import { fittingInput } from '../support/fitting-request.ts'
import { repository } from '../support/git-repository.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { example } from '../support/std-008.ts'

const config = { limits: { max_children: 200, max_sessions: 200, spawns_per_minute: 1000 } }
const usual = shared(() => standInClaude(config))
type World = Awaited<ReturnType<typeof usual>>

/** Who calls: a person, or a session about one that it started itself. */
type Caller = { readonly client: Client; readonly m: World; readonly parent: string }

/** What a route writes for its caller, and a call of it that has something to act on. */
type Row = {
  readonly asked: readonly string[]
  readonly via?: 'report' | 'hook' | 'import'
  /** Who may not call it at all. */
  readonly not?: 'operator' | 'session'
  readonly call: (caller: Caller) => Promise<(() => Promise<unknown>) | undefined>
}

type Writing = { [N in JsonRouteName]: Routes[N]['method'] extends 'post' ? N : never }[JsonRouteName]

const child = async ({ m, client, parent }: Caller, more: object = {}) =>
  client.spawnSession({ agent_type: 'shell', prompt: '', working_dir: m.work, parent, ...more })

const talk = async ({ m, client }: Caller, message: string) => {
  const { session_id } = await client.chat({ project_root: m.work, agent_id: 'coder', message })
  return String(session_id)
}

const slow = 'SCRIPT:[{"text":"late","delayMs":600000}]'
const question = {
  question: 'Which?',
  header: 'Which',
  options: [{ label: 'A', description: '' }],
  multiSelect: false,
}
const asks = `SCRIPT:${JSON.stringify([{ tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] }, { text: 'ok' }])}`

const waiting = ({ m }: Caller, session: string) =>
  eventually(
    () => m.client.listApprovals({ session }),
    ({ approvals }) => approvals.length > 0,
  )

const running = ({ m }: Caller, session_id: string) =>
  eventually(
    () => m.client.listAgentRuns({ session_id }),
    (runs) => runs.some(({ status }) => status === 'running'),
  )

const script = async (caller: Caller) => {
  const { workflow_id } = await caller.client.startScript(scriptOf(caller))
  return workflow_id
}

function scriptOf({ m }: Caller) {
  mkdirSync(join(m.work, 'workflows'), { recursive: true })
  writeFileSync(
    join(m.work, 'workflows', 'waits.ts'),
    "export const meta = { name: 'waits', description: 'It waits.', phases: ['one'] }\nexport default async () => 1\n",
  )
  return { script: 'waits', project_root: m.work }
}

const nothing: Row = { asked: [], call: async () => undefined }

/** What a route does to a session that it names, when it needs nothing else: all that it writes is its caller's. */
const onChild = (name: Writing): Row => ({
  asked: [],
  call: async (caller) => {
    const { id } = await child(caller)
    const input = { ...fittingInput(routes[name]), id }
    return () => caller.client[name](input as never)
  },
})

/** The routes that can write and need more than a session. */
const special: Partial<Record<Writing, Row>> = {
  appendEvents: {
    asked: ['progress.checkpoint'],
    via: 'report',
    call: async (caller) => {
      const { id } = await child(caller)
      const { events } = await caller.m.client.listEvents({ session: id, type: 'session.started' })
      const { sessionId, traceId, runId, spanId } = events[0] as WireEvent
      const note = { sessionId, traceId, runId, spanId, actor: 'me', payload: { message: 'reported' } }
      return () => caller.client.appendEvents({ events: [{ ...note, type: 'progress.checkpoint' }] })
    },
  },
  spawnSession: {
    asked: ['session.started', 'message.queued', 'effect.intended'],
    call: async (caller) => () => child(caller, { prompt: ': said' }),
  },
  updateSession: {
    asked: ['session.updated'],
    call: async (caller) => {
      const { id } = await child(caller)
      return () => caller.client.updateSession({ id, task: 'more', budget: { tokens: 1000 } })
    },
  },
  sendMessage: {
    asked: ['session.reopened', 'message.queued'],
    call: async (caller) => {
      const { id, session_id } = await child(caller)
      await caller.client.completeSession({ id })
      // Its parent is told of that by the daemon.
      await eventually(
        () => caller.m.client.listMessages({ id: caller.parent }),
        ({ messages }) => messages.some(({ preview }) => preview.includes(session_id)),
      )
      return () => caller.client.sendMessage({ id, text: ': said' })
    },
  },
  interruptSession: {
    asked: ['effect.intended'],
    call: async (caller) => {
      const { id } = await child(caller)
      // A shell does not tell whether it stopped.
      return () => caller.client.interruptSession({ id }).catch(() => undefined)
    },
  },
  killSession: {
    asked: ['session.completed'],
    call: async (caller) => {
      const { id } = await child(caller)
      await caller.m.client.spawnSession({
        agent_type: 'shell',
        prompt: '',
        working_dir: caller.m.work,
        parent: id,
      })
      return () => caller.client.killSession({ id, force: true })
    },
  },
  resumeSession: {
    asked: ['session.reopened', 'effect.intended'],
    call: async (caller) => {
      const one = await child(caller, { agent_type: 'claude' })
      await caller.m.launched(one)
      await caller.client.killSession({ id: one.id, force: true })
      return () => caller.client.resumeSession({ id: one.id })
    },
  },
  adoptSession: {
    asked: ['session.updated'],
    call: async (caller) => {
      const { session_id } = await child(caller)
      const { id } = await child(caller, { parent: session_id })
      return () => caller.client.adoptSession({ id, parent: caller.parent })
    },
  },
  decideApproval: {
    asked: ['approval.granted'],
    call: async (caller) => {
      const id = await talk(caller, asks)
      await waiting(caller, id)
      return () => caller.client.decideApproval({ id, verdict: 'allow', answers: { 'Which?': 'A' } })
    },
  },
  restoreSessions: nothing,
  checkSessions: nothing,
  receiveHook: {
    asked: ['agent.spawned'],
    via: 'hook',
    not: 'operator',
    call: async ({ client }) => {
      const prompt = { hook_event_name: 'UserPromptSubmit', session_id: 'x', prompt: 'told' }
      return () => client.receiveHook({ cli: 'claude', ...prompt })
    },
  },
  runHook: {
    asked: ['agent.completed'],
    via: 'hook',
    not: 'operator',
    call: async ({ client }) => {
      // A turn that nothing more is heard of is ended by the daemon after a while: this one has just begun.
      const prompt = { hook_event_name: 'UserPromptSubmit', session_id: 'x', prompt: 'told again' }
      await client.receiveHook({ cli: 'claude', ...prompt })
      const payload = { hook_event_name: 'Stop', session_id: 'x', background_tasks: [] }
      return () => client.runHook({ cli: 'claude', at: Date.now(), payload })
    },
  },
  cancelAgent: {
    asked: ['agent.cancelled'],
    call: async (caller) => {
      const [run] = await running(caller, await talk(caller, slow))
      return () => caller.client.cancelAgent({ run_id: run?.run_id as never })
    },
  },
  chat: {
    asked: ['session.started', 'message.queued'],
    call: async (caller) => () => talk(caller, 'SCRIPT:[{"text":"ok"}]'),
  },
  replayRun: {
    asked: ['session.started'],
    not: 'session',
    call: async (caller) => {
      const id = await talk(caller, 'SCRIPT:[{"text":"ok"}]')
      await eventually(
        () => caller.m.client.listAgentRuns({ session_id: id }),
        (runs) => runs.some(({ status }) => status === 'completed'),
      )
      return () => caller.client.replayRun({ id, from: 1 })
    },
  },
  setSettings: {
    asked: ['settings.updated'],
    not: 'session',
    call:
      async ({ client, m }) =>
      () =>
        client.setSettings({ project_root: m.work, mode: 'chat' }),
  },
  dismissMessage: {
    asked: ['message.failed'],
    call: async (caller) => {
      const session_id = await talk(caller, slow)
      await running(caller, session_id)
      const { message_id } = await caller.client.chat({
        project_root: caller.m.work,
        session_id,
        message: 'later',
      })
      return () => caller.client.dismissMessage({ message: String(message_id) })
    },
  },
  importLog: {
    asked: ['session.started', 'session.completed'],
    via: 'import',
    not: 'session',
    call:
      async ({ client }) =>
      () =>
        client.importLog({ document: example() }),
  },
  startCrew: {
    asked: ['session.started', 'workflow.started'],
    call: async (caller) => async () => {
      const request = { project_root: caller.m.work, request: `Do it. ${slow}`, crew: 'solo', cli: 'own' }
      const { session_id } = await caller.client.startCrew(request)
      return () => caller.client.killSession({ id: session_id, force: true })
    },
  },
  startScript: {
    asked: ['session.started', 'workflow.started'],
    call: async (caller) => () => caller.client.startScript(scriptOf(caller)),
  },
  cancelWorkflow: {
    asked: ['workflow.cancelled'],
    call: async (caller) => {
      const id = await script(caller)
      return () => caller.client.cancelWorkflow({ id })
    },
  },
  // One stands still only when a write failed: src/workflow/local/local-durable.test.ts has that.
  resumeWorkflow: nothing,
  forkWorkflow: {
    asked: ['session.started', 'workflow.started'],
    not: 'session',
    call: async (caller) => {
      const id = await script(caller)
      return () => caller.client.forkWorkflow({ id })
    },
  },
  rebuildIndex: nothing,
  trustProject: {
    asked: ['project.trusted'],
    not: 'session',
    call: async (caller) => {
      scriptOf(caller)
      const { client, m } = caller
      const [project] = (await client.listTrust({ path: m.work })).projects
      const { root = '', items = [] } = project ?? {}
      const files = items.map(({ kind, file, sha256 }) => ({ kind, file, sha256 }))
      return () => client.trustProject({ root, files })
    },
  },
  endTrust: {
    asked: ['project.trust.ended'],
    not: 'session',
    call:
      async ({ client, m }) =>
      () =>
        client.endTrust({ path: m.work }),
  },
  createLoginLink: nothing,
  chooseWorker: nothing,
  // It ends the daemon, so it comes last, in a test of its own.
  shutdown: nothing,
}

async function callers(m: World) {
  repository(m.work)
  const { session_id, id } = await m.spawnShell()
  const session = { client: m.as(session_id).client, m, parent: session_id }
  const operator = { client: m.client, m, parent: session_id }
  return [
    { who: 'operator', caller: operator, by: { kind: 'operator', id: 'cli' } },
    { who: 'session', caller: session, by: { kind: 'session', id } },
  ] as const
}

test('[MUS-306] what a route writes because it was asked carries the caller, proved by its token; the rest is the daemon’s own', async () => {
  const m = await usual()
  const others = routeEntries.flatMap(([name, { method, access }]): [string, Row][] => {
    if (method !== 'post' || name in special) return []
    if (access !== 'subtree' && access !== 'below')
      throw new Error(`say in this file what ${name} writes for its caller`)
    return [[name, onChild(name as Writing)]]
  })
  const found: Record<string, unknown> = {}
  const expected: Record<string, unknown> = {}
  for (const { who, caller, by } of await callers(m))
    for (const [route, { asked, via, not, call }] of [...others, ...Object.entries(special)]) {
      const act = not === who ? undefined : await call(caller)
      if (!act) continue
      const { seq } = await m.client.health({})
      const clear = await act()
      const right = { ...by, ...(via && { via }) }
      const is = (event: WireEvent) => JSON.stringify(event.by) === JSON.stringify(right)
      const isKnown = asked.length > 0
      const { events } = await eventually(
        () => m.client.listEvents({ after: seq, limit: 1000 }),
        (page) =>
          isKnown
            ? asked.every((type) => page.events.some((event) => event.type === type))
            : page.events.some(is),
      )
      const isAsked = (event: WireEvent) => (isKnown ? asked.includes(event.type) : is(event))
      const wrong = events.filter((event) => (isAsked(event) ? !is(event) : !isOwn(event, via)))
      found[`${route} ${who}`] = wrong.map(({ type, by: said }) => [type, said])
      expected[`${route} ${who}`] = []
      if (typeof clear === 'function') await clear()
    }
  expect(found).toEqual(expected)
})

/** What follows from it is the daemon's to say, or what the session itself goes on reporting. */
const isOwn = ({ by }: WireEvent, via: Row['via']): boolean =>
  by?.kind === 'daemon' ||
  by?.via === 'hook' ||
  by?.via === 'transcript' ||
  (via !== undefined && by?.via === via)

test('[MUS-306] who killed a session is seen in its events', async () => {
  const m = await usual()
  const parent = await m.spawnShell()
  const [one, other] = [
    await m.spawnShell({ parent: parent.session_id }),
    await m.spawnShell({ parent: parent.session_id }),
  ]
  await m.client.killSession({ id: one.id, force: true, reason: 'enough' })
  await m.as(parent.session_id).client.killSession({ id: other.id, force: true, reason: 'enough' })
  const { events } = await m.client.listSessionEvents({ id: parent.id, type: 'killed' })
  expect(events.map(({ session_id, by }) => [session_id, by])).toEqual([
    [one.session_id, 'operator'],
    [other.session_id, parent.session_id],
  ])
})

test('[MUS-306] what ends with the daemon because a person wanted it ends by that person', async () => {
  const m = await standInClaude(config)
  const { id } = await m.spawnShell()
  await m.client.shutdown({ sessions: true })
  await m.restart('SIGTERM')
  const { events } = await m.client.listEvents({ session: id, type: 'session.completed' })
  expect(events).toMatchObject([{ by: { kind: 'operator', id: 'cli' }, payload: { outcome: 'killed' } }])
})
