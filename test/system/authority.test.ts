import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { type JsonRouteName, routeEntries, routes } from '../../src/contract/routes.ts'
import { temporaryFolder } from '../cli/run-sm.ts'
import { clientFor, startDaemonProcess } from '../support/daemon-process.ts'
import { fittingInput } from '../support/fitting-request.ts'
import { goldenJournal, unpackJournal } from '../support/golden-journals.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { sessionDrafts } from '../support/temp-engine.ts'

const config = 'clis: { shell: { command: bash } }\nruntime: { approvals: [{ tool: Bash, action: ask }] }\n'
const usual = shared(() => sessionDaemon({ config }))

/** Callers, as they stand to the session that is acted on. */
const callers = ['operator', 'own', 'parent', 'sibling', 'stranger', 'stale', 'none'] as const
type Caller = (typeof callers)[number]
type Answer = 'allowed' | 'denied' | 'hidden' | 'unauthenticated'

/** An answer for each caller, in the order of `callers`. */
const rights = {
  // A token that is not known is never taken for none.
  anyone: 'allowed allowed allowed allowed allowed unauthenticated allowed',
  // A stranger is told what one is told who names nothing that is there.
  subtree: 'allowed allowed allowed denied hidden unauthenticated unauthenticated',
  below: 'allowed denied allowed denied hidden unauthenticated unauthenticated',
  // What belongs to a session is hidden from those beside it too.
  words: 'allowed allowed allowed hidden hidden unauthenticated unauthenticated',
  wordsBelow: 'allowed denied allowed hidden hidden unauthenticated unauthenticated',
  // Those beside it know its name and how it stands.
  named: 'allowed allowed allowed allowed hidden unauthenticated unauthenticated',
  operator: 'allowed denied denied denied denied unauthenticated unauthenticated',
  // They are about the caller, whoever is named.
  oneself: 'allowed allowed allowed allowed allowed unauthenticated unauthenticated',
  program: 'denied allowed allowed allowed allowed unauthenticated unauthenticated',
} as const

type Route = JsonRouteName
type Target = { readonly id: string; readonly message: string }

/** Who may call a route, by the access that its row in the table has. */
const byAccess = { open: 'anyone', subtree: 'subtree', below: 'below', operate: 'operator' } as const

/** Who may call a route that every session may: its handler decides, so that what is right is written here. */
const deciding: Partial<Record<Route, keyof typeof rights>> = {
  spawnSession: 'subtree',
  getMessage: 'words',
  dismissMessage: 'wordsBelow',
  getBlackboard: 'subtree',
  decideApproval: 'below',
  getSession: 'named',
  listChildren: 'named',
  runHook: 'program',
  receiveHook: 'program',
}
/** What these are about is the caller's own, or nobody's; how much of it each sees is tested by what they answer. */
const aboutOneself: readonly Route[] = [
  ...(['whoAmI', 'listSessions', 'listApprovals', 'listProcesses', 'listEvents', 'appendEvents'] as const),
  ...(['search', 'listAgents', 'getAgent', 'listAgentTypes', 'listCrews', 'getCrew', 'listModels'] as const),
  ...(['openapi', 'listAgentRuns', 'listAgentChildren', 'getAgentContext', 'cancelAgent'] as const),
  ...(['chat', 'getSettings', 'getWorkspaceTree', 'startCrew', 'startScript', 'listWorkflows'] as const),
  ...(['getWorkflow', 'cancelWorkflow', 'resumeWorkflow', 'listFleetEvents'] as const),
]

function rightOf(route: Route): keyof typeof rights {
  const { access } = routes[route]
  if (access !== 'session') return byAccess[access]
  const right = deciding[route] ?? (aboutOneself.includes(route) ? 'oneself' : undefined)
  if (!right) throw new Error(`who may call ${route}? Decide it in this file`)
  return right
}

/** Where the smallest request that fits would be about nothing, or change too much. */
const inputs: Partial<Record<Route, (target: Target) => object>> = {
  spawnSession: ({ id }) => ({ agent_type: 'shell', prompt: '', parent: id, dry_run: true }),
  updateSession: ({ id }) => ({ id, task: 'x' }),
  getMessage: ({ message }) => ({ message }),
  killSession: ({ id }) => ({ id, force: true }),
  restoreSessions: () => ({ dry_run: true }),
  dismissMessage: ({ message }) => ({ message }),
  chat: () => ({ project_root: '/nowhere', message: 'x' }),
  startCrew: () => ({ project_root: '/nowhere', request: 'x' }),
  startScript: () => ({ project_root: '/nowhere', script: 'x' }),
  importLog: () => ({ document: { not: 'one' } }),
}

function call(client: Client, route: Route, target: Target): Promise<unknown> {
  const { id, ...rest } = fittingInput(routes[route])
  const input = inputs[route]?.(target) ?? { ...rest, ...(id !== undefined && { id: target.id }) }
  return (client[route] as (input: object) => Promise<unknown>)(input)
}

/** How routes that list are asked for one session. */
const narrowed: Partial<Record<Route, (id: string | undefined) => object>> = {
  listSessions: (parent) => ({ ...(parent && { parent }) }),
  listEvents: (session) => ({ ...(session && { session }), limit: 1000 }),
  search: (session) => ({ ...(session && { session }), q: 'secret*', limit: 200 }),
  listApprovals: (session) => ({ ...(session && { session }), all: true }),
  listAgentRuns: (session_id) => ({ ...(session_id && { session_id }) }),
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
    if (error.code === 'not_found' && /^no (session|message) /.test(error.message)) return 'hidden'
    // An interrupt that nothing proves has been tried.
    expect(['conflict', 'not_found', 'invalid', 'failed']).toContain(error.code)
    return 'allowed'
  }
}

const wanted = (route: Route, caller: Caller): Answer =>
  rights[rightOf(route)].split(' ')[callers.indexOf(caller)] as Answer

test('[SM-84][SM-117][MUS-205] every route answers each caller as decided, and none is without a decision', async () => {
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
    answers[`${route} ${caller}`] = await answerOf(call(client, route, { id: target.session_id, message }))
    expected[`${route} ${caller}`] = wanted(route, caller)
  }
  // The operator's own call would end the daemon.
  for (const [route, { answers: kind }] of routeEntries)
    for (const caller of route === 'shutdown' ? callers.slice(1) : callers)
      if (kind === 'json') await ask(route as Route, caller)
  expect(answers).toEqual(expected)
  // Whoever was refused changed nothing.
  expect(await m.client.getSession({ id: own.session_id })).toMatchObject({ completion_status: null })
})

test('[MUS-291] a session reads itself and what is below it; of those beside and above it, who they are and how they stand', async () => {
  const m = await usual()
  const say = async (word: string, more: object = {}) => {
    const session = await m.spawnShell({ name: `called-${word}`, ...more }, `: secret-${word}`)
    const { client } = m.as(session.session_id)
    await client.addCheckpoint({ id: session.id, message: `secret-${word} reached` })
    await client.updateSession({ id: session.id, task: `secret-${word} task` })
    await m.client.sendMessage({ id: session.id, text: `: secret-${word} said` })
    return { ...session, client }
  }
  const parent = await say('parent')
  const own = await say('own', { parent: parent.session_id })
  const child = await say('child', { parent: own.session_id })
  const [sibling, stranger] = [await say('sibling', { parent: parent.session_id }), await say('stranger')]
  await m.client.killSession({ id: child.session_id, force: true })
  const ids = [own, parent, child, sibling, stranger].map(({ session_id }) => session_id)
  const read = async (client: Client) => {
    const said: Partial<Record<Route, string>> = {}
    for (const [name, { method, answers }] of routeEntries)
      if (method === 'get' && answers === 'json')
        for (const id of [undefined, ...ids]) {
          const { id: needed, ...rest } = fittingInput(routes[name])
          const input = { ...rest, ...(needed !== undefined && { id }), ...narrowed[name as Route]?.(id) }
          if (needed !== undefined && id === undefined) continue
          const answer = await (client[name as Route] as (input: object) => Promise<unknown>)(input).catch(
            (error: unknown) => (error instanceof AppError ? error.message : Promise.reject(error)),
          )
          said[name as Route] = `${said[name as Route] ?? ''}${JSON.stringify(answer)}`
        }
    return said
  }
  const words = (said: object, pattern: RegExp) =>
    [...new Set([...JSON.stringify(said).matchAll(pattern)].map(([word]) => word))].sort()
  const mine = await read(own.client)
  expect(words(mine, /secret-\w+/g)).toEqual(['secret-child', 'secret-own'])
  expect(words(mine, /called-\w+/g)).toEqual([
    'called-child',
    'called-own',
    'called-parent',
    'called-sibling',
  ])
  // The same routes show all of it to a person, so that what is looked for is there to be found.
  const all = await read(m.client)
  expect(words(all, /secret-\w+/g)).toHaveLength(5)
  for (const route of ['listEvents', 'listSessions', 'exportLog', 'listMessages'] as const)
    expect(words({ said: all[route] }, /secret-\w+/g), route).toHaveLength(5)
  const found = async (client: Client) => {
    const { hits } = await client.search({ q: 'secret', limit: 200 })
    return [...new Set(hits.map(({ sessionId }) => sessionId))].sort()
  }
  expect(await found(own.client)).toEqual([own.id, child.id].sort())
  expect(await found(m.client)).toEqual([own, parent, child, sibling, stranger].map(({ id }) => id).sort())
  // What is known of the others: that they are there.
  const { sessions } = await own.client.listSessions({ open: true })
  const names = sessions.map(({ friendly_name }) => friendly_name)
  expect(new Set(names)).toEqual(new Set(['own', 'parent', 'sibling'].map((one) => `shell-called-${one}`)))
  expect(sessions.find(({ id }) => id === sibling.id)).toMatchObject({ is_alive: true, current_task: null })
  const heard = async (client: Client, until: string) => {
    const stop = new AbortController()
    const stream = client.streamEvents({ after: '0' }, { signal: stop.signal })
    let said = ''
    for await (const { data } of stream) {
      said += JSON.stringify(data)
      if (said.includes(until)) break
    }
    stop.abort()
    return words({ said }, /secret-\w+/g)
  }
  await m.client.addCheckpoint({ id: own.id, message: 'the end' })
  expect(await heard(own.client, 'the end')).toEqual(['secret-child', 'secret-own'])
  expect(await heard(m.client, 'the end')).toHaveLength(5)
})

test('[MUS-205][MUS-291] what was begun with the token of a session ends with it, and does not come back with the session', async () => {
  const m = await usual()
  const one = await m.spawnShell()
  const stop = new AbortController()
  const stream = await fetch(`${m.daemon.url}/api/v1/events/stream?after=0`, {
    headers: { authorization: `Bearer ${m.as(one.session_id).token}` },
    signal: stop.signal,
  })
  const heard = stream.text()
  await m.client.killSession({ id: one.session_id, force: true })
  expect(await heard).toContain('session.started')
  stop.abort()
})

test('[MUS-205][MUS-290] a tool is allowed by a person only: not by the session, its parent or another, however it is named', async () => {
  const m = await usual()
  const [parent, other] = [await m.spawnShell(), await m.spawnShell()]
  const asked = 'SCRIPT:[{"tools":[{"name":"Bash","input":{"command":"echo x"}}]},{"text":"ok"}]'
  const as = (shortId: string) => m.as(shortId).client
  const { session_id } = await as(parent.session_id).chat({
    project_root: m.home,
    agent_id: 'coder',
    message: asked,
  })
  const session = String(session_id)
  const { approvals } = await eventually(
    () => m.client.listApprovals({ session }),
    (found) => found.approvals.length > 0,
  )
  for (const id of [approvals[0]?.approval_id ?? '', session])
    for (const [who, code] of [
      [parent, 'denied'],
      [other, 'not_found'],
    ] as const)
      await expect(as(who.session_id).decideApproval({ id, verdict: 'allow' })).rejects.toMatchObject({
        code,
      })
  expect((await m.client.listApprovals({ session })).approvals).toHaveLength(1)
  await m.client.decideApproval({ id: session, verdict: 'allow' })
})

test('[MUS-288] with its own token a session forges nothing: no session, permit, message, budget or number of another', async () => {
  const m = await usual()
  const [own, victim] = [await m.spawnShell(), await m.spawnShell()]
  const { client } = m.as(own.session_id)
  const rootOf = async ({ id }: { id: string }) => {
    const { events } = await m.client.listEvents({ session: id, type: 'session.started', limit: 1 })
    const { sessionId, traceId, runId, spanId } = events[0] ?? { sessionId: '' }
    return { sessionId, traceId, runId, spanId, actor: 'operator' }
  }
  const root = await rootOf(own)
  const forged = sessionDrafts().started()
  const permit = { cli: 'custom', folder: '/', tool: 'Bash', text: '', isPrefix: true }
  const grant = { approvalId: 'apr_x', subject: 'tool', by: 'operator', scope: 'always', permit }
  const queued = { messageId: 'msg_x', from: 'operator', mode: 'urgent', preview: 'x', vault: 'f'.repeat(64) }
  const items: [string, object][] = [
    [
      'a session elsewhere',
      { ...forged, payload: { origin: 'runtime', workingDir: '/', parentSessionId: own.id } },
    ],
    ['a record below it', { ...forged, payload: { parentSessionId: own.id } }],
    ['a permit', { ...root, type: 'approval.granted', payload: grant }],
    ['another text of the vault', { ...root, type: 'message.queued', payload: queued }],
    [
      'a budget',
      { ...root, type: 'session.updated', payload: { budget: { tokens: 1e9 }, depth: 0, by: 'operator' } },
    ],
    ['its own end', { ...root, type: 'session.completed', payload: { outcome: 'completed' } }],
    [
      'a commit of its choice',
      { ...root, type: 'progress.checkpoint', payload: { message: 'x', commit: 'HEAD' } },
    ],
    [
      'words of another',
      { ...(await rootOf(victim)), type: 'progress.checkpoint', payload: { message: 'x' } },
    ],
    [
      'who says it',
      { ...root, type: 'progress.checkpoint', payload: { message: 'x' }, by: { kind: 'daemon' } },
    ],
  ]
  const { seq } = await m.client.health({})
  const { results } = await client.appendEvents({ events: items.map(([, item]) => item) })
  const answers = results.map((result, i) => [
    items[i]?.[0],
    result.status === 'rejected' ? result.code : result.status,
  ])
  expect(answers).toEqual(items.map(([what]) => [what, what === 'who says it' ? 'invalid' : 'denied']))
  await expect(client.appendEvents({ events: [forged], history: true })).rejects.toMatchObject({
    code: 'denied',
  })
  expect(
    (await m.client.listEvents({ after: seq, type: 'session.started,approval.granted' })).events,
  ).toEqual([])
  // Numbers of a producer are the caller's own: whoever takes another's name takes nothing away from it.
  const note = { ...root, type: 'progress.checkpoint', payload: { message: 'mine' } }
  const producer = { id: 'relay', epoch: 9, n: 1000 }
  expect((await client.appendEvents({ events: [note], producer })).results).toMatchObject([
    { status: 'appended' },
  ])
  const theirs = { ...(await rootOf(victim)), type: 'progress.checkpoint', payload: { message: 'theirs' } }
  const first = { id: 'relay', epoch: 0, n: 1 }
  expect(
    (await m.as(victim.session_id).client.appendEvents({ events: [theirs], producer: first })).results,
  ).toMatchObject([{ status: 'appended' }])
})

test('[MUS-289][MUS-35] a journal of before goes on in a segment that older code refuses, and tells once what lapsed', async () => {
  const home = temporaryFolder()
  unpackJournal(goldenJournal('0.1.0', 'every-event'), join(home, 'journal'))
  const lapsed = async () => {
    const daemon = await startDaemonProcess(home)
    const { events } = await eventually(
      () => daemon.client.listEvents({ type: 'authority.lapsed', after: 0 }),
      (found) => found.events.length > 0,
    )
    const { events: lines } = await daemon.client.listFleetEvents({ type: 'lapsed' })
    const { checks } = await daemon.client.doctor({})
    await daemon.kill('SIGTERM')
    return {
      events: events.map(({ payload }) => payload),
      lines: lines.map(({ message }) => message),
      check: checks.find(({ name }) => name === 'permits'),
    }
  }
  const told = {
    events: [{ grants: 1 }],
    lines: ['muster: 1 permit or raised budget of an older journal is no longer in force; give it again'],
    check: { name: 'permits', status: 'warning', detail: expect.stringMatching(/^1 .* since 20/) },
  }
  expect(await lapsed()).toMatchObject(told)
  expect(await lapsed()).toMatchObject(told)
  const segments = join(home, 'journal', 'segments')
  const headers = readdirSync(segments).map(
    (file) => readFileSync(join(segments, file), 'utf8').split('\n', 1)[0],
  )
  expect(headers).toEqual([
    expect.stringContaining('"minReader":1'),
    expect.stringContaining('"minReader":2'),
  ])
})

test('[MUS-205] the token decides who asks, not the session that is named beside it', async () => {
  const m = await usual()
  const [one, other] = [await m.spawnShell(), await m.spawnShell()]
  const type = (line: string) => m.tmux('send-keys', '-t', `=${one.tmux_session}:`, line, 'Enter')
  type(`MUSTER_SESSION=${other.id} sm complete stolen; echo "exit $?"`)
  const seen = async () => (await m.client.getOutput({ id: one.session_id })).lines.join('\n')
  expect(await eventually(seen, (screen) => /^exit \d/m.test(screen))).toMatch(/^exit 3$/m)
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
