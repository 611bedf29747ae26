import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { sessionRoutes } from '../../src/contract/session-routes.ts'
import { clientFor } from '../support/daemon-process.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { ids } from '../support/temp-engine.ts'

const usual = shared(() => sessionDaemon())

/** Callers, as they stand to the session that is acted on. */
const callers = ['operator', 'own', 'parent', 'sibling', 'stranger', 'stale', 'none'] as const
type Caller = (typeof callers)[number]
type Answer = 'allowed' | 'denied' | 'unauthenticated'

/** An answer for each caller, in the order of `callers`. */
const rights = {
  // A token that is not known is never taken for none.
  anyone: 'allowed allowed allowed allowed allowed unauthenticated allowed',
  subtree: 'allowed allowed allowed denied denied unauthenticated unauthenticated',
  below: 'allowed denied allowed denied denied unauthenticated unauthenticated',
  operator: 'allowed denied denied denied denied unauthenticated unauthenticated',
  // They are about the caller, whoever is named.
  oneself: 'allowed allowed allowed allowed allowed unauthenticated unauthenticated',
  program: 'denied allowed allowed allowed allowed unauthenticated unauthenticated',
} as const

/** Who may call what. A route that is not here does not compile, and fails below. */
const decisions = {
  spawnSession: 'subtree',
  listSessions: 'anyone',
  getSession: 'anyone',
  updateSession: 'subtree',
  listChildren: 'anyone',
  getProgress: 'anyone',
  getMetrics: 'anyone',
  listUnsaved: 'subtree',
  listCheckpoints: 'anyone',
  addCheckpoint: 'subtree',
  diffCheckpoints: 'subtree',
  completeSession: 'subtree',
  listSessionEvents: 'anyone',
  sendMessage: 'below',
  listMessages: 'subtree',
  getMessage: 'subtree',
  interruptSession: 'below',
  killSession: 'subtree',
  resumeSession: 'below',
  adoptSession: 'subtree',
  explainSession: 'subtree',
  getOutput: 'subtree',
  getTranscript: 'subtree',
  getAttach: 'subtree',
  getSummary: 'anyone',
  listApprovals: 'anyone',
  decideApproval: 'below',
  listProcesses: 'anyone',
  restoreSessions: 'operator',
  checkSessions: 'operator',
  whoAmI: 'oneself',
  runHook: 'program',
  receiveHook: 'program',
} as const satisfies Record<keyof typeof sessionRoutes, keyof typeof rights>

type Route = keyof typeof decisions
type Target = { readonly id: string; readonly message: string }

const calls: Record<Route, (client: Client, target: Target) => Promise<unknown>> = {
  spawnSession: (c, { id }) => c.spawnSession({ agent_type: 'shell', prompt: '', parent: id, dry_run: true }),
  listSessions: (c) => c.listSessions({}),
  getSession: (c, { id }) => c.getSession({ id }),
  updateSession: (c, { id }) => c.updateSession({ id, task: 'x' }),
  listChildren: (c, { id }) => c.listChildren({ id }),
  getProgress: (c, { id }) => c.getProgress({ id }),
  getMetrics: (c, { id }) => c.getMetrics({ id }),
  listUnsaved: (c, { id }) => c.listUnsaved({ id }),
  listCheckpoints: (c, { id }) => c.listCheckpoints({ id }),
  addCheckpoint: (c, { id }) => c.addCheckpoint({ id, message: 'm' }),
  diffCheckpoints: (c, { id }) => c.diffCheckpoints({ id, from: 1 }),
  completeSession: (c, { id }) => c.completeSession({ id }),
  listSessionEvents: (c, { id }) => c.listSessionEvents({ id }),
  sendMessage: (c, { id }) => c.sendMessage({ id, text: 'hello' }),
  listMessages: (c, { id }) => c.listMessages({ id }),
  getMessage: (c, { message }) => c.getMessage({ message }),
  interruptSession: (c, { id }) => c.interruptSession({ id }),
  killSession: (c, { id }) => c.killSession({ id, force: true }),
  resumeSession: (c, { id }) => c.resumeSession({ id }),
  adoptSession: (c, { id }) => c.adoptSession({ id }),
  explainSession: (c, { id }) => c.explainSession({ id }),
  getOutput: (c, { id }) => c.getOutput({ id }),
  getTranscript: (c, { id }) => c.getTranscript({ id }),
  getAttach: (c, { id }) => c.getAttach({ id }),
  getSummary: (c, { id }) => c.getSummary({ id }),
  listApprovals: (c) => c.listApprovals({}),
  decideApproval: (c, { id }) => c.decideApproval({ id, verdict: 'allow' }),
  listProcesses: (c) => c.listProcesses({}),
  restoreSessions: (c) => c.restoreSessions({ dry_run: true }),
  checkSessions: (c) => c.checkSessions({}),
  whoAmI: (c) => c.whoAmI({}),
  runHook: (c) => c.runHook({ cli: 'custom', at: 0, payload: {} }),
  receiveHook: (c) => c.receiveHook({ cli: 'custom' }),
}

/** What changes who stands where, or ends somebody; each such call that is allowed gets a target of its own. */
const disturbing = new Set<Route>(['adoptSession', 'completeSession', 'killSession'])

/** Anything but a refusal of the caller: that there is nothing to decide or to resume is an answer too. */
async function answerOf(call: Promise<unknown>): Promise<Answer> {
  try {
    await call
    return 'allowed'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'denied' || error.code === 'unauthenticated') return error.code
    expect(['conflict', 'not_found']).toContain(error.code)
    return 'allowed'
  }
}

const wanted = (route: Route, caller: Caller): Answer =>
  rights[decisions[route]].split(' ')[callers.indexOf(caller)] as Answer

test('[SM-84][SM-117][MUS-205] every session route answers each caller as decided, and none is without a decision', async () => {
  expect(Object.keys(decisions).sort()).toEqual(Object.keys(sessionRoutes).sort())
  const m = await usual()
  const below = (id: string) => m.as(id).client.spawnSession({ agent_type: 'shell', prompt: '' })
  const parent = await m.spawnShell()
  const [own, sibling] = [await below(parent.session_id), await below(parent.session_id)]
  const [stranger, gone] = [await m.spawnShell(), await m.spawnShell()]
  const stale = m.as(gone.session_id).token
  await m.client.killSession({ id: gone.session_id, force: true })
  const { message_id: message } = await m.client.sendMessage({ id: own.session_id, text: 'x' })
  const as = (shortId: string) => m.as(shortId).client
  const clients: Record<Caller, () => Client> = {
    operator: () => m.client,
    own: () => as(own.session_id),
    parent: () => as(parent.session_id),
    sibling: () => as(sibling.session_id),
    stranger: () => as(stranger.session_id),
    stale: () => clientFor(m.daemon.url, stale),
    none: () => clientFor(m.daemon.url, undefined),
  }
  const answers: Record<string, Answer> = {}
  const expected: Record<string, Answer> = {}
  const ask = async (route: Route, caller: Caller): Promise<void> => {
    const isOnItsOwn = disturbing.has(route) && wanted(route, caller) === 'allowed'
    const target = isOnItsOwn ? await below(parent.session_id) : own
    const client = isOnItsOwn && caller === 'own' ? as(target.session_id) : clients[caller]()
    answers[`${route} ${caller}`] = await answerOf(calls[route](client, { id: target.session_id, message }))
    expected[`${route} ${caller}`] = wanted(route, caller)
  }
  for (const route of Object.keys(decisions) as Route[])
    for (const caller of callers) await ask(route, caller)
  expect(answers).toEqual(expected)
  // Whoever was refused changed nothing.
  expect(await m.client.getSession({ id: own.session_id })).toMatchObject({ completion_status: null })
})

test('[MUS-205] an approval is decided by parents and people only, whether it or its session is named', async () => {
  const m = await usual()
  const [one, other] = [await m.spawnShell(), await m.spawnShell()]
  const { events } = await m.client.listEvents({ session: one.id, type: 'session.started', limit: 1 })
  const started = events[0]
  if (!started) throw new Error('no start')
  const { sessionId, traceId, runId, spanId } = started
  const payload = {
    approvalId: 'apr_planted',
    subject: 'plan',
    action: 'x',
    options: ['approve', 'reject'],
  } as const
  await m.client.appendEvents({
    events: [
      {
        sessionId,
        traceId,
        runId,
        spanId: ids.span(),
        parentSpanId: spanId,
        actor: 'test',
        type: 'approval.requested',
        payload,
      },
    ],
  })
  for (const id of ['apr_planted', one.session_id])
    for (const who of [one, other])
      await expect(
        m.as(who.session_id).client.decideApproval({ id, verdict: 'allow' }),
      ).rejects.toMatchObject({ code: 'denied' })
  expect((await m.client.listApprovals({})).approvals).toHaveLength(1)
})

test('[MUS-205] the token decides who asks, not the session that is named beside it', async () => {
  const m = await usual()
  const [one, other] = [await m.spawnShell(), await m.spawnShell()]
  const type = (line: string) => m.tmux('send-keys', '-t', `=${one.tmux_session}:`, line, 'Enter')
  type(`MUSTER_SESSION=${other.id} sm complete stolen; echo "exit $?"`)
  const seen = async () => (await m.client.getOutput({ id: one.session_id })).lines.join('\n')
  expect(await eventually(seen, (screen) => /^exit \d/m.test(screen))).toMatch(/^exit 5$/m)
  expect(await m.client.getSession({ id: other.id })).toMatchObject({ completion_status: null })
})

test('[MUS-208] what a shell, a path or tmux would read as more than a name is no name of a session', async () => {
  const m = await usual()
  const one = await m.spawnShell()
  const open = async () => (await m.client.listSessions({ open: true })).sessions.length
  const before = await open()
  const odd = [
    'a;id',
    '$(id)',
    '`id`',
    'a b',
    '../x',
    'a\nb',
    '=x',
    'a:b',
    'a.b',
    '#{pid}',
    'x'.repeat(65),
    '',
  ]
  for (const name of odd) {
    await expect(m.spawnShell({ name }), name).rejects.toMatchObject({ code: 'invalid' })
    await expect(m.client.updateSession({ id: one.id, name }), name).rejects.toMatchObject({
      code: 'invalid',
    })
    if (name !== '')
      await expect(m.client.killSession({ id: name }), name).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(await open()).toBe(before)
})

test('[MUS-206] what an agent says is marked as its own words, whatever it calls itself and whomever it speaks to', async () => {
  const m = await usual()
  const parent = await m.spawnShell()
  const child = await m.spawnShell({ parent: parent.session_id })
  const asParent = m.as(parent.session_id).client
  await asParent.updateSession({ id: parent.id, name: 'operator' })
  expect(await asParent.sendMessage({ id: child.id, text: 'delete it', mode: 'sequential' })).toMatchObject({
    from: parent.session_id,
    preview: `[from ${parent.session_id}] delete it`,
  })
  const { preview } = await m.client.sendMessage({ id: child.id, text: 'delete it', mode: 'sequential' })
  expect(preview).toBe('delete it')

  const asked = await asParent.chat({
    project_root: m.home,
    agent_id: 'lead',
    message: 'SCRIPT:[{"text":"ok"}]',
  })
  const told = { id: String(asked.session_id), mode: 'sequential' } as const
  await asParent.sendMessage({ ...told, text: 'one more SCRIPT:[{"text":"ok"}]' })
  await m.client.sendMessage({ ...told, text: 'mine SCRIPT:[{"text":"ok"}]' })
  const { messages } = await m.client.listMessages({ id: told.id })
  expect(messages.map((message) => message.preview.split('SCRIPT')[0] ?? '').sort()).toEqual([
    `[from ${parent.session_id}] `,
    `[from ${parent.session_id}] one more `,
    'mine ',
  ])
})
