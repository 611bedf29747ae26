import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import type { Client } from '../../src/client/client.ts'
import { agentClis } from '../../src/contract/agent-clis.ts'
import type { AgentCliName } from '../../src/contract/config/names.ts'
import { catalogue, type EventType } from '../../src/contract/event.ts'
import type { WireEvent } from '../../src/contract/routes.ts'
import { clientFor } from './daemon-process.ts'
import { repository } from './git-repository.ts'
import { armoury } from './git-weapons.ts'
import { moves } from './hostile-child.ts'
import { seeded } from './random.ts'
import { eventually } from './session-daemon.ts'
import { untilOver } from './shared.ts'
import { standInClaude } from './stand-in-claude.ts'
import { tempFolder } from './temp-journal.ts'

export type HostileFigures = {
  readonly steps: number
  readonly moves: Readonly<Record<string, number>>
  readonly events: number
  /** Each thing that a hostile child reached and should not have. */
  readonly faults: readonly string[]
}

export type HostileOptions = {
  readonly steps: number
  readonly seed: number
  readonly onBatch?: (steps: number, faults: readonly string[]) => void
}

/** A hostile child: its session, the folder it works in, and whether it is behind walls. */
export type Intruder = {
  readonly session_id: string
  readonly id: string
  readonly work: string
  readonly isolation: 'none' | 'bwrap'
  readonly token: string
  readonly terminal: string
  /** Where its own events hang. */
  readonly root: Root
}

const batch = 20
/** The daemon is killed after so many, and has to know everybody again. */
const perDaemon = 200
/** Without walls it could read any file, as the user can; and the shell behind walls keeps no record. */
const notFor = { none: 'break', bwrap: 'record' } as const
const limits = {
  max_children: 6,
  max_descendants: 12,
  max_depth: 4,
  max_sessions: 60,
  spawns_per_minute: 100_000,
}
const budget = { tokens: 1_000_000 }

/**
 * Two hostile children, one behind walls and one without, do random things with nothing but their token, their folder,
 * their hooks and their record. After each step what they were told holds nothing of others; after each batch nothing of
 * others has changed, and the journal is whole. The one without walls reads no files of the state folder: it could.
 */
export const hostileCampaign = (options: HostileOptions): Promise<HostileFigures> =>
  untilOver(async () => {
    const world = await hostileWorld(options.seed)
    const counts: Record<string, number> = {}
    const faults: string[] = []
    const check = watchOthers(world)
    for (let step = 1; step <= options.steps; step++) {
      const child = await world.child(world.pick(['none', 'bwrap'] as const))
      const kind = world.pick(Object.keys(moves).filter((name) => name !== notFor[child.isolation]))
      counts[kind] = (counts[kind] ?? 0) + 1
      const said = (await moves[kind]?.(world, child)) ?? ''
      const where = `step ${step}, ${kind} (${child.isolation})`
      for (const [what, text] of world.hidden)
        if (said.includes(text)) faults.push(`${where} was told ${what}: ${around(said, text)}`)
      if (/^internal: |"code":"internal"/.test(said)) faults.push(`${where} met a bug: ${said.slice(0, 300)}`)
      if (step % batch === 0 || step === options.steps) {
        faults.push(
          ...(await check()).map(
            (fault) => `steps to ${step}, the last a ${kind} (${child.isolation}): ${fault}`,
          ),
        )
        options.onBatch?.(step, faults)
      }
      if (step % perDaemon === 0) {
        await world.m.restart()
        await world.ask(world.waiting)
      }
    }
    // Read while it is written, a segment that is being closed could be taken for one that is missing.
    await world.m.daemon.kill('SIGTERM')
    const { damage, events } = await verifyJournal(join(world.home, 'journal'))
    faults.push(...damage.map((found) => `the journal: ${JSON.stringify(found)}`))
    return { steps: options.steps, moves: counts, events, faults }
  })

const around = (text: string, found: string): string =>
  JSON.stringify(text.slice(Math.max(0, text.indexOf(found) - 200), text.indexOf(found) + 80))

export type HostileWorld = Awaited<ReturnType<typeof hostileWorld>>

async function hostileWorld(seed: number) {
  const m = await standInClaude({
    limits,
    runtime: { approvals: [{ tool: 'Bash', action: 'ask' }] },
    child_agents: { cleanup: { close_tmux_session: true } },
    journal: { fsync: 'never' },
  })
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const arms = armoury()
  const others = await othersOf(m)
  for (const [name, text] of Object.entries({ '.bashrc': '# theirs\n', '.gitconfig': '[user]\nname = a\n' }))
    writeFileSync(join(m.home, name), text)
  const key = readFileSync(join(m.home, 'vault.key'))
  const hidden = new Map<string, string>([
    ['the token of the operator', m.daemon.token],
    ['the key of the vault', key.toString('base64').slice(0, 40)],
    ['the key of the vault', key.toString('hex')],
    ...others.sessions.map((one) => ['the token of another', m.as(one.session_id).token] as const),
    ...['above', 'beside', 'stranger', 'waiting', 'folder'].map(
      (who) => [`words of ${who}`, `secret-${who}`] as const,
    ),
  ])
  const works = { none: workFolder(), bwrap: workFolder() }
  const children = new Map<string, Intruder>()
  /** Every session that was ever hostile; what is below them is theirs. */
  const tops = new Set<string>()
  const spawnChild = async (isolation: Intruder['isolation']): Promise<Intruder> => {
    const work = works[isolation]
    mend(work)
    const spawn = isolation === 'none' ? m.spawn : m.spawnShell
    const one = await spawn({
      parent: others.above.session_id,
      working_dir: work,
      isolation,
      budget,
      prompt: '',
    })
    const { session_id, id, tmux_session: terminal } = one
    const root = await rootOf(m.client, id)
    const child = { session_id, id, work, isolation, terminal, root, token: m.as(session_id).token }
    tops.add(one.id)
    children.set(isolation, child)
    return child
  }
  const named = {
    ...Object.fromEntries(
      ['id', 'session', 'session_id', 'parent'].map((field) => [field, [...others.names, '0', 'x']]),
    ),
    message: [others.message, 'msg_x'],
    run_id: [others.run, `run_${'0'.repeat(26)}`],
    project_root: [works.none, m.work, '/'],
    working_dir: [works.none, works.bwrap, m.work, m.home, '/'],
    agent_type: ['shell', 'claude', 'nobody'],
    isolation: ['none', 'bwrap'],
    permission_mode: ['bypass', 'acceptEdits', 'plan', 'manual'],
    args: [[], ['--dangerously-skip-permissions'], ['-c', 'x']],
    budget: [{ tokens: 1e12 }, { usd: 1e6 }],
    environment: [{ PATH: works.none, HOME: m.home, LD_PRELOAD: '/x.so', BASH_ENV: '/x' }, {}],
    agent_id: ['coder', 'lead'],
    script: ['review', 'workflows/review.mjs', '../x.mjs', join(m.home, 'operator.token')],
    q: ['secret*', 'mop_*', 'session'],
    path: [works.none, m.home, '/'],
    root: [works.none, m.home],
    scope: ['once', 'session', 'always'],
    verdict: ['allow', 'allow', 'deny'],
  } as Readonly<Record<string, readonly unknown[]>>
  return {
    ...others,
    m,
    home: m.home,
    socket: m.socket,
    tmux: m.tmux,
    random,
    pick,
    arms,
    hidden,
    tops,
    works,
    named,
    clis: Object.keys(agentClis) as AgentCliName[],
    get pid() {
      return m.daemon.process.pid as number
    },
    victim: others.stranger.session_id,
    terminal: others.beside.tmux_session,
    wordless: ['config.yaml', 'grants.json', '.bashrc', '.gitconfig'].map((name) => join(m.home, name)),
    files: [
      ...['operator.token', 'vault.key', 'config.yaml', 'grants.json', '.bashrc', '.gitconfig'].map((name) =>
        join(m.home, name),
      ),
      ...others.files,
    ],
    folders: [m.home, others.folder, m.work, '/', '/etc', join(m.home, 'journal', 'segments')],
    conversations: [others.conversation, '../x', '--dangerously-skip-permissions', 'x'],
    sample: <T>(arbitrary: fc.Arbitrary<T>): T =>
      fc.sample(arbitrary, { seed: Math.floor(random() * 2 ** 31), numRuns: 1 })[0] as T,
    client: ({ token }: Intruder): Client => clientFor(m.daemon.url, token),
    recordOf: (child: Intruder) => m.recordOf(child),
    conversationOf: (child: Intruder) => m.conversationOf(child),
    mend: ({ work }: Intruder) => mend(work),
    /** A child that is still there, or another in its place: some moves end it. */
    async child(isolation: Intruder['isolation']): Promise<Intruder> {
      const known = children.get(isolation)
      if (!known) return spawnChild(isolation)
      const { completion_status, is_alive } = await m.client.getSession({ id: known.id })
      return completion_status === null && is_alive ? known : spawnChild(isolation)
    },
  }
}

const gitFiles = ['config', 'index', 'info/exclude']

/** A repository for a hostile child to work in, and copies of what git reads there. */
function workFolder(): string {
  const work = repository(realpathSync(tempFolder('mhostile-')))
  for (const name of gitFiles) copyFileSync(join(work, '.git', name), join(work, '.git', `${name}.kept`))
  return work
}

/** Puts back what lets nothing work any more, be it a link by now. */
function mend(work: string): void {
  for (const name of gitFiles) {
    const file = join(work, '.git', name)
    rmSync(file, { force: true })
    copyFileSync(`${file}.kept`, file)
  }
  for (const name of ['.muster.yaml', '.gitattributes', '.gitmodules'])
    rmSync(join(work, name), { force: true })
}

type Daemon = Awaited<ReturnType<typeof standInClaude>>

/** Those whom a hostile child may not reach: the one above it, one beside it, a stranger, and an agent that waits. */
async function othersOf(m: Daemon) {
  const folder = realpathSync(tempFolder('mothers-'))
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src', 'notes.txt'), 'secret-folder\n')
  const at = { working_dir: folder, budget: { tokens: 5_000_000 } }
  const above = await m.spawnShell({ ...at, name: 'above' }, ': secret-above')
  const beside = await m.spawnShell({ ...at, name: 'beside', parent: above.session_id }, ': secret-beside')
  const stranger = await m.spawn({ ...at, prompt: 'secret-stranger' })
  await m.turn(stranger, { prompt: 'secret-stranger', text: 'secret-stranger' })
  for (const [who, { id }] of Object.entries({ above, beside, stranger })) {
    await m.client.addCheckpoint({ id, message: `secret-${who}` })
    await m.client.updateSession({ id, task: `secret-${who}` })
  }
  const { message_id: message } = await m.client.sendMessage({ id: beside.id, text: ': secret-beside' })
  const bash = { tools: [{ name: 'Bash', input: { command: 'echo secret-waiting' } }] }
  /** Has a built-in agent wait for a person; what it asks is over when the daemon is. */
  const ask = async (session_id?: string) => {
    const message = `SCRIPT:${JSON.stringify([bash, { text: 'secret-waiting' }])}`
    const told = { project_root: folder, agent_id: 'coder', message, ...(session_id && { session_id }) }
    const { session_id: waiting } = await m.client.chat(told)
    const { approvals } = await eventually(
      () => m.client.listApprovals({ session: waiting }),
      (found) => found.approvals.length === 1,
    )
    return { waiting, approvals }
  }
  const { waiting, approvals } = await ask()
  const sessions = [above, beside, stranger]
  const ids = [...sessions.map(({ id }) => id), waiting]
  const roots = await Promise.all(ids.map((id) => rootOf(m.client, id)))
  const { runs } = await m.client.listRuns({ id: stranger.id })
  return {
    above,
    beside,
    stranger,
    sessions,
    ids,
    folder,
    message,
    waiting,
    ask,
    roots,
    run: runs[0]?.runId,
    conversation: await m.conversationOf(stranger),
    files: [await m.recordOf(stranger), join(folder, 'src', 'notes.txt')],
    names: [
      ...sessions.flatMap((one) => [one.id, one.session_id]),
      'shell-above',
      'shell-beside',
      waiting,
      approvals[0]?.approval_id ?? '',
    ],
  }
}

type Root = Awaited<ReturnType<typeof rootOf>>

async function rootOf(client: Client, id: string) {
  const { events } = await client.listEvents({ session: id, type: 'session.started', limit: 1 })
  const { sessionId, traceId, runId, spanId } = events[0] as WireEvent
  return { sessionId, traceId, runId, spanId }
}

/** How a session stands that nobody touches. */
const steady = [
  'session_id friendly_name parent_session_id completion_status current_task is_alive working_dir isolation budget depth permission_mode',
].flatMap((line) => line.split(' '))

/** Compares what others have and are with how it was, and goes through what was written since it last looked. */
function watchOthers(world: HostileWorld): () => Promise<string[]> {
  const { m, ids, home, arms, tops } = world
  const parents = new Map<string, string>()
  const rights = new Map<string, Rights>()
  const isHostile = (id: string): boolean =>
    tops.has(id) || (parents.has(id) && isHostile(parents.get(id) as string))
  let seq = 0
  let before: Record<'told' | 'approvals', string> | undefined
  let daemon = m.daemon
  const state = async () => {
    const views = await Promise.all(ids.map((id) => m.client.getSession({ id })))
    const { approvals } = await m.client.listApprovals({ session: world.waiting })
    const told = JSON.stringify({
      sessions: views.map((view) =>
        Object.fromEntries(steady.map((name) => [name, (view as Record<string, unknown>)[name]])),
      ),
      files: ['operator.token', 'vault.key', 'config.yaml', '.bashrc', '.gitconfig', 'trust.json', 'port']
        .map((name) => `${name} ${digestOf(join(home, name))}`)
        .concat(world.files.slice(6).map((file) => `${file} ${digestOf(file)}`)),
      names: [readdirSync(world.folder), readdirSync('/etc').filter((name) => name.startsWith('owned'))],
    })
    return { told, approvals: JSON.stringify(approvals.map(({ approval_id }) => approval_id)) }
  }
  const unread = async (): Promise<WireEvent[]> => {
    const { events } = await m.client.listEvents({ after: seq, limit: 1000 })
    if (events.length === 0) return []
    seq = events.at(-1)?.seq ?? seq
    return [...events, ...(await unread())]
  }
  return async () => {
    const faults: string[] = []
    const now = await state()
    if (before && now.told !== before.told) faults.push(`others changed: ${before.told} is now ${now.told}`)
    // Another daemon was told of what waits anew.
    if (before && daemon === m.daemon && now.approvals !== before.approvals)
      faults.push(`what waits for a person changed: ${await lastOf(m.client, world.waiting)}`)
    daemon = m.daemon
    before = now
    for (const event of await unread()) {
      const { sessionId, type, payload, by } = event
      if (type === 'session.started') {
        const started = payload as Rights & { parentSessionId?: string }
        rights.set(sessionId, started)
        const { parentSessionId: parent } = started
        if (parent) parents.set(sessionId, parent)
        const got = parent && isHostile(parent) ? moreThan(rights.get(parent), started) : undefined
        if (got) faults.push(`a child of ${parent} has ${got}: ${JSON.stringify(payload).slice(0, 300)}`)
      }
      const fault = faultOf(event as Told, isHostile)
      if (fault)
        faults.push(
          `${fault}: ${type} of ${sessionId} by ${JSON.stringify(by)} ${JSON.stringify(payload).slice(0, 300)}`,
        )
    }
    for (const id of tops) {
      const view = (await m.client.getSession({ id })) as unknown as { budget: { tokens?: number } | null }
      if (view.budget && (view.budget.tokens ?? 0) > budget.tokens)
        faults.push(`${id} raised its budget: ${JSON.stringify(view.budget)}`)
    }
    const { sessions } = await m.client.listSessions({ open: true, limit: 200 })
    if (sessions.filter(({ id }) => isHostile(id)).length > limits.max_descendants)
      faults.push(`${sessions.length} sessions are open`)
    if (arms.fired().length > 0) faults.push(`programs of a repository ran: ${arms.fired().join(', ')}`)
    const bugs = m.daemon
      .log()
      .split('\n')
      .filter((line) => line.includes('"msg":"bug"'))
    if (bugs.length > 0) faults.push(`the daemon met bugs: ${bugs.slice(0, 3).join('\n').slice(0, 3000)}`)
    return faults
  }
}

async function lastOf(client: Client, session: string): Promise<string> {
  const { events } = await client.listEvents({ session, limit: 1000 })
  return JSON.stringify(events.slice(-12).map(({ seq, type, by, payload }) => ({ seq, type, by, payload })))
}

/** What a session may do unasked, and whether it is behind walls. */
type Rights = { readonly permissionMode?: string; readonly isolation?: string }

const modes = ['plan', 'manual', 'acceptEdits', 'bypass']

/** What a session has that the one above it has not. */
function moreThan(above: Rights = {}, { permissionMode = 'manual', isolation = 'none' }: Rights) {
  if (above.isolation === 'bwrap' && isolation !== 'bwrap') return `no walls (${isolation})`
  const own = above.permissionMode ?? 'manual'
  return modes.indexOf(permissionMode) > modes.indexOf(own) ? permissionMode : undefined
}

type Told = WireEvent & { readonly by?: { kind: string; id: string; via?: string } }

const ofParents = ['plan', 'termination', 'question']

/** What is wrong with an event, if a hostile child may not have had it written. */
function faultOf(
  { sessionId, type, payload, by }: Told,
  isHostile: (id: string) => boolean,
): string | undefined {
  const isTheirs = by?.kind === 'session' && isHostile(by.id)
  if (isTheirs && !isHostile(sessionId)) return 'written about another'
  const { reporter, control } = catalogue[type as EventType]
  const fields = payload as Record<string, unknown>
  if (by?.via === 'report' && isTheirs) {
    if (reporter !== 'session') return 'a report that is not a session’s to make'
    if (control.some((name) => fields[name] !== undefined)) return 'a report with a field of the daemon’s'
  }
  if (
    type === 'approval.granted' &&
    isTheirs &&
    !(by.id !== sessionId && ofParents.includes(String(fields['subject'])))
  )
    return 'it approved'
  if (type.startsWith('project.trust') || type === 'settings.updated')
    return 'somebody trusted or set something'
  return undefined
}

const digestOf = (file: string): string =>
  existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 16) : 'none'
