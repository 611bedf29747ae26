import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { configKeys } from '../../src/contract/config/config-keys.ts'
import { temporaryFolder } from '../cli/run-sm.ts'
import { claudeHook } from '../support/claude-golden.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

type World = Awaited<ReturnType<typeof standInClaude>>
type Check = (c: World) => Promise<void>

/** One configuration that differs from the usual, and for each key in it what only that key can bring about. */
type Group = {
  readonly about: string
  readonly config: Record<string, unknown>
  readonly env?: Record<string, string>
  readonly keys: Readonly<Record<string, Check>>
}

const quick = { idle_timeout: 3600, idle_after: 1 }
const shell = { agent_type: 'shell', prompt: '' }
const done = { text: 'All done.', tools: [{ name: 'Read', input: { file_path: 'a.ts' } }], tokens: 50 }
const tmuxHome = temporaryFolder()
const environment = {
  TEST_ALLOWED: 'yes',
  TEST_SECRET: 'no',
  SSH_AUTH_SOCK: '/agent',
  PATH: process.env['PATH'] ?? '',
}

/** Waits for an event of a type; of one session when it is named. */
const told = (c: World, type: string, session?: { id: string }) =>
  eventually(
    async () => (await c.events(type)).filter(({ sessionId }) => !session || sessionId === session.id),
    (events) => events.length > 0,
  )

/** A turn that says nothing in particular has been looked at: so has every session that rested before it. */
async function aLookLater(c: World): Promise<void> {
  const other = await c.spawn()
  await c.turn(other, { text: 'Hm.' })
  await told(c, 'agent.idle', other)
}

const refusedBy = async (spawning: Promise<unknown>, limit: string) =>
  expect(spawning).rejects.toMatchObject({
    code: 'limited',
    message: expect.stringContaining(`limits.${limit}`),
  })

const alive = (c: World, { session_id }: { session_id: string }) =>
  c.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_dead}').includes(`-${session_id} 0`)

const launching: Group = {
  about: 'what is launched',
  config: {
    claude: {
      default_args: ['--bypass-permissions', '--verbose'],
      agent_configs: { Engineer: { model: 'opus', args: ['--fast'] }, tester: { cli: 'codex' } },
      presets: { 'quick-fix': { model: 'haiku', args: ['--quick'] } },
    },
    clis: {
      own: {
        command: 'bash',
        args: ['-c', 'printf "<%s>" "$@"; exec cat', 'own', '--one'],
        prompt: 'argument',
      },
      codex: { command: 'bash' },
    },
    sessions: {
      default_working_dir_behavior: 'specify',
      inherit_environment_vars: ['PATH', 'TEST_ALLOWED'],
      naming: { pattern: '{friendly_name}_{agent_type}', fallback: 'x-{agent_type}-{short_id}' },
    },
  },
  keys: {
    'claude.default_command': async (c) =>
      expect((await c.launched(await c.spawn())).program).toBe(c.program),
    'claude.default_args': async (c) => {
      const { argv } = await c.launched(await c.spawn({ agent_type: 'Explore' }))
      expect(argv).toEqual(expect.arrayContaining(['--dangerously-skip-permissions', '--verbose']))
      expect(argv).not.toContain('--bypass-permissions')
      expect(c.m.daemon.log()).toContain('--bypass-permissions is not a flag')
    },
    'claude.agent_configs': async (c) =>
      expect(await c.spawn({ agent_type: 'TESTER', dry_run: true })).toMatchObject({ agent_type: 'tester' }),
    'claude.agent_configs.<name>.model': async (c) =>
      expect((await c.launched(await c.spawn({ agent_type: 'engineer' }))).argv.join(' ')).toContain(
        '--model opus',
      ),
    'claude.agent_configs.<name>.args': async (c) => {
      const { argv } = await c.launched(await c.spawn({ agent_type: 'Engineer' }))
      expect(argv).toContain('--fast')
      expect(argv).not.toContain('--verbose')
    },
    'claude.agent_configs.<name>.cli': async (c) =>
      expect(await c.spawn({ agent_type: 'tester', dry_run: true })).toMatchObject({ cli: 'codex' }),
    'claude.presets': async (c) =>
      expect(c.spawn({ preset: 'nonsense' })).rejects.toMatchObject({
        message: expect.stringContaining('quick-fix'),
      }),
    'claude.presets.<name>.model': async (c) => {
      const { argv } = await c.launched(await c.spawn({ agent_type: 'Engineer', preset: 'quick-fix' }))
      expect(argv.join(' ')).toContain('--model haiku')
    },
    'claude.presets.<name>.args': async (c) => {
      const { argv } = await c.launched(await c.spawn({ agent_type: 'Engineer', preset: 'quick-fix' }))
      expect(argv).toContain('--quick')
      expect(argv).not.toContain('--fast')
    },
    clis: async (c) => expect(await c.spawn({ agent_type: 'own' })).toMatchObject({ cli: 'custom' }),
    'clis.<name>.command': async (c) =>
      expect((await c.spawn({ agent_type: 'own', dry_run: true })).dry_run?.argv[0]).toBe('bash'),
    'clis.<name>.args': async (c) => {
      const { tmux_session } = await c.spawn({ agent_type: 'own', prompt: 'told at the start' })
      await shows(c, tmux_session, '<--one>')
    },
    'clis.<name>.prompt': async (c) => {
      const { tmux_session } = await c.spawn({ agent_type: 'own', prompt: 'told at the start' })
      await shows(c, tmux_session, '<told at the start>')
    },
    'sessions.default_working_dir_behavior': async (c) => {
      const parent = await c.spawn()
      await expect(
        c.client.spawnSession({ ...shell, parent: parent.session_id, environment: { PWD: c.work } }),
      ).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('--working-dir') })
    },
    'sessions.inherit_environment_vars': async (c) => {
      const { env } = await c.launched(await c.spawn({ environment }))
      expect(env).toMatchObject({ TEST_ALLOWED: 'yes', MUSTER_HOME: c.home })
      expect(env).not.toHaveProperty('TEST_SECRET')
      expect(env).not.toHaveProperty('SSH_AUTH_SOCK')
      expect(env).not.toHaveProperty('DAEMON_SECRET')
    },
    'sessions.naming.pattern': async (c) =>
      expect(await c.spawn({ agent_type: 'Engineer', name: 'a1' })).toMatchObject({
        friendly_name: 'a1_engineer',
      }),
    'sessions.naming.fallback': async (c) => {
      const { name, session_id } = await c.spawn({ agent_type: 'Engineer' })
      expect(name).toBe(`x-engineer-${session_id}`)
    },
  },
  env: { DAEMON_SECRET: 'no' },
}

async function shows(c: World, tmuxSession: string, text: string): Promise<void> {
  const look = async () => c.tmux('capture-pane', '-p', '-J', '-t', `=${tmuxSession}:`)
  await eventually(look, (screen) => screen.includes(text))
}

const growing: readonly Group[] = [
  {
    about: 'how far a tree grows',
    config: { limits: { max_depth: 1, max_children: 1, max_descendants: 2, spawns_per_minute: 4 } },
    keys: {
      'limits.max_children': async (c) => {
        const root = await c.spawn(shell)
        await c.spawn({ ...shell, parent: root.session_id, name: 'child' })
        await refusedBy(c.spawn({ ...shell, parent: root.session_id }), 'max_children')
      },
      'limits.max_depth': async (c) => refusedBy(c.spawn({ ...shell, parent: 'shell-child' }), 'max_depth'),
      'limits.max_descendants': async (c) => {
        const { id: first, parent_session_id } = await c.client.getSession({ id: 'shell-child' })
        const parent = parent_session_id ?? ''
        await c.client.killSession({ id: first, force: true })
        const { id } = await c.spawn({ ...shell, parent })
        await c.client.killSession({ id, force: true })
        await refusedBy(c.spawn({ ...shell, parent }), 'max_descendants')
      },
      'limits.spawns_per_minute': async (c) => {
        await c.spawn(shell)
        await refusedBy(c.spawn(shell), 'spawns_per_minute')
      },
    },
  },
  {
    about: 'on which server its terminal is, and how many run at one time',
    config: { tmux: { socket: 'default' }, limits: { max_sessions: 1 } },
    env: { TMUX_TMPDIR: tmuxHome },
    keys: {
      'tmux.socket': async (c) => {
        const env = { ...process.env, TMUX_TMPDIR: tmuxHome, TMUX: '' }
        onTestFinished(() => void spawnSync('tmux', ['kill-server'], { env }))
        const { id, tmux_session } = await c.spawn()
        expect(spawnSync('tmux', ['ls'], { env, encoding: 'utf8' }).stdout).toContain(`${tmux_session}:`)
        await c.client.killSession({ id, force: true })
      },
      'limits.max_sessions': async (c) => {
        const { id } = await c.spawn(shell)
        await refusedBy(c.spawn(shell), 'max_sessions')
        await c.client.killSession({ id, force: true })
        await c.spawn(shell)
      },
    },
  },
]

const ending: readonly Group[] = [
  {
    about: 'a finished session is asked about',
    config: { child_agents: { mode: 'supervised' } },
    keys: { 'child_agents.mode': asksBeforeItEnds },
  },
  {
    about: 'the same in auto mode',
    config: { child_agents: { auto_complete: { require_parent_approval: true } } },
    keys: { 'child_agents.auto_complete.require_parent_approval': asksBeforeItEnds },
  },
  {
    about: 'nothing is looked for',
    config: { child_agents: { auto_complete: { ...quick, enabled: false } } },
    keys: {
      'child_agents.auto_complete.enabled': staysOpen,
      'child_agents.auto_complete.idle_after': async (c) => {
        const [event] = await told(c, 'agent.idle')
        expect(event).toMatchObject({ payload: { idleMs: expect.any(Number) } })
      },
    },
  },
  {
    about: 'phrases say nothing',
    config: { child_agents: { auto_complete: { ...quick, detect_completion_phrases: false } } },
    keys: { 'child_agents.auto_complete.detect_completion_phrases': staysOpen },
  },
  {
    about: 'other phrases, and silence; what becomes of a program',
    config: {
      child_agents: {
        auto_complete: { idle_timeout: 1, completion_patterns: ['banana'] },
        cleanup: { auto_kill_on_complete: true, auto_archive_transcript: false },
      },
    },
    keys: {
      'child_agents.auto_complete.completion_patterns': async (c) => {
        const session = await c.spawn()
        await c.turn(session, { text: 'Banana.' })
        expect((await ends(c, session)).payload).toMatchObject({ detected: { detector: 'phrase' } })
      },
      'child_agents.auto_complete.idle_timeout': async (c) => {
        const session = await c.spawn()
        await c.turn(session, { ...done, text: 'The files are written.' })
        expect((await ends(c, session)).payload).toMatchObject({ detected: { detector: 'idle' } })
      },
      'child_agents.cleanup.auto_kill_on_complete': async (c) => {
        const session = await c.spawn()
        await c.turn(session, done)
        await ends(c, session)
        const panes = async () => c.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_dead}')
        await eventually(panes, (list) => list.includes(`${session.tmux_session} 1`))
      },
      // The program ends after the copy would have been made.
      'child_agents.cleanup.auto_archive_transcript': async (c) => {
        expect(await c.events('session.archived')).toEqual([])
        expect(existsSync(join(c.home, 'archives'))).toBe(false)
      },
    },
  },
  {
    about: 'what becomes of a terminal and a transcript, and what is not counted',
    config: {
      child_agents: {
        cleanup: { close_tmux_session: true, archive_path: 'kept' },
        progress: { enable_token_tracking: false, enable_tool_tracking: false },
      },
    },
    keys: {
      'child_agents.cleanup.close_tmux_session': async (c) => {
        const session = await c.spawn()
        await c.turn(session, done)
        await ends(c, session)
        const sessions = async () => c.tmux('list-sessions', '-F', '#{session_name}')
        await eventually(sessions, (list) => !list.includes(session.tmux_session))
      },
      'child_agents.cleanup.archive_path': async (c) => {
        const [event] = await told(c, 'session.archived')
        expect(event?.payload).toMatchObject({ path: expect.stringContaining(join(c.home, 'kept')) })
        const [name = ''] = readdirSync(join(c.home, 'kept'))
        expect(readdirSync(join(c.home, 'kept', name))).toEqual([expect.stringMatching(/\.jsonl$/)])
      },
      'child_agents.progress.enable_token_tracking': async (c) => {
        const session = await c.spawn({ name: 'uncounted' })
        await c.turn(session, { ...done, costUsd: 1 })
        await ends(c, session)
        expect(await c.session(session)).toMatchObject({ tokens_used: 0, cost_usd: null })
        await expect(c.spawn({ budget: { tokens: 100 } })).rejects.toMatchObject({
          code: 'invalid',
          message: expect.stringContaining('enable_token_tracking'),
        })
      },
      'child_agents.progress.enable_tool_tracking': async (c) =>
        expect(await c.client.getSession({ id: 'claude-uncounted' })).toMatchObject({
          tools_used: {},
          total_tools: 0,
        }),
    },
  },
]

async function asksBeforeItEnds(c: World): Promise<void> {
  const session = await c.spawn()
  await c.turn(session, done)
  const [asked] = await told(c, 'approval.requested', session)
  expect(asked?.payload).toMatchObject({ subject: 'termination' })
  expect((await c.session(session)).completion_status).toBeNull()
}

async function staysOpen(c: World): Promise<void> {
  const session = await c.spawn()
  await c.turn(session, done)
  await told(c, 'agent.idle', session)
  await aLookLater(c)
  expect(await c.session(session)).toMatchObject({ completion_status: null, status: 'idle' })
  expect(alive(c, session)).toBe(true)
}

async function ends(c: World, session: { id: string }) {
  const [event] = await told(c, 'session.completed', session)
  if (!event) throw new Error('it did not end')
  return event
}

/** A parent whose children complete, fail, rest and report in this order; what is told of the last was decided last. */
async function heardByParent(c: World): Promise<string[]> {
  const parent = await c.spawn()
  const child = () => c.spawn({ parent: parent.session_id })
  const [completes, fails, rests, reports] = [await child(), await child(), await child(), await child()]
  await c.client.completeSession({ id: completes.id, message: 'all is well' })
  await c.client.completeSession({ id: fails.id, message: 'no keys', status: 'error' })
  await c.turn(rests, { text: 'Hm.' })
  await told(c, 'agent.idle', rests)
  await c.client.addCheckpoint({ id: reports.id, message: 'half way' })
  const heard = async () =>
    (await c.client.listMessages({ id: parent.id })).messages.map(({ preview }) => preview)
  const found = await eventually(heard, (texts) => texts.some((text) => text.includes('half way')))
  return found.filter((text) => text.startsWith('[muster]'))
}

let heard: Promise<string[]> | undefined
const isSilentOf =
  (words: string): Check =>
  async (c) => {
    heard ??= heardByParent(c)
    expect((await heard).filter((text) => text.includes(words))).toEqual([])
  }

const telling: readonly Group[] = [
  {
    about: 'what a parent is told, how old a figure may be, how long a question stands',
    config: {
      child_agents: {
        auto_complete: quick,
        progress: { snapshot_interval: 1 },
        approvals: { timeout: 1 },
        notifications: {
          notify_parent_on_complete: false,
          notify_parent_on_error: false,
          notify_parent_on_idle: false,
          notify_parent_on_checkpoint: true,
        },
      },
    },
    keys: {
      'child_agents.notifications.notify_parent_on_complete': isSilentOf('all is well'),
      'child_agents.notifications.notify_parent_on_error': isSilentOf('no keys'),
      'child_agents.notifications.notify_parent_on_idle': isSilentOf('is idle'),
      'child_agents.notifications.notify_parent_on_checkpoint': async () =>
        expect(await heard).toEqual([expect.stringContaining('half way')]),
      'child_agents.progress.snapshot_interval': async (c) => {
        const session = await c.spawn()
        await c.turn(session, { text: 'Thinking', tokens: 7, isOpen: true })
        // A call that runs keeps it from being looked at as one that rests.
        const call = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'long' }
        await c.hook(session, { hook_event_name: 'PreToolUse', ...call })
        await eventually(
          () => c.session(session),
          ({ tokens_used }) => tokens_used === 7,
        )
        // Nothing tells of a file that an agent inside the CLI begins to write.
        const file = join((await c.recordOf(session)).replace(/\.jsonl$/, ''), 'subagents', 'agent-a1.jsonl')
        mkdirSync(dirname(file), { recursive: true })
        appendFileSync(file, `${JSON.stringify(c.line({ id: 'of_the_agent', tokens: 30 }))}\n`)
        await eventually(
          () => c.session(session),
          ({ tokens_used }) => tokens_used === 37,
        )
      },
      'child_agents.approvals.timeout': async (c) => {
        const session = await c.spawn()
        await c.turn(session, { isOpen: true })
        const reply = await c.hook(session, claudeHook('PermissionRequest.Bash', '2.1.325'))
        expect(reply.body).toContain('nobody answered in time')
      },
    },
  },
]

const groups = [launching, ...growing, ...ending, ...telling]

describe('[SM-44, SM-45, SM-46, SM-48, SM-49, SM-50, SM-51, SM-52, SM-53, SM-54, SM-56, SM-57, SM-58, SM-59, SM-60, SM-61, SM-62, SM-63, SM-122] every key of document 3 changes what happens', () => {
  test.each(groups)('$about', async ({ config, env, keys }) => {
    const c = await standInClaude(config, env)
    for (const [key, check] of Object.entries(keys))
      await check(c).catch((cause: unknown) => {
        throw new Error(`${key} seems to be ignored`, { cause })
      })
  })

  test('every key of the sections of sessions is in the table, or proved where what it does is tested', () => {
    const elsewhere = [
      ...['attempts', 'secret_env', 'timeout', 'url'].map(
        (name) => `child_agents.notifications.webhook.${name}`,
      ),
      ...['auto_restore', 'observe', 'isolation', 'isolation_writable'].map((name) => `sessions.${name}`),
    ]
    const sections = /^(claude|clis|child_agents|sessions|limits|tmux)(\.|$)/
    const keys = configKeys().filter(({ key, isSection }) => !isSection && sections.test(key))
    expect([...groups.flatMap((group) => Object.keys(group.keys)), ...elsewhere].sort()).toEqual(
      keys.map(({ key }) => key).sort(),
    )
  })
})
