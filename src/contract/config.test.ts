import { expect, test } from 'vitest'
import { configKeys, keysAt } from './config/config-keys.ts'
import { flattenConfig } from './config/flatten-config.ts'
import { builtInProviders, providersOf } from './config/model-settings.ts'
import { Config, defaultConfig } from './config.ts'

test('[SM-44, SM-49, SM-50, SM-51, SM-52, SM-63, MUS-144] an empty configuration is valid and has the documented defaults', () => {
  expect(Object.fromEntries(flattenConfig(defaultConfig).map(({ key, value }) => [key, value]))).toEqual({
    'claude.default_command': 'claude',
    'claude.default_args': [],
    'claude.agent_configs': {},
    'claude.presets': {},
    'child_agents.mode': 'auto',
    'child_agents.auto_complete.enabled': true,
    'child_agents.auto_complete.idle_timeout': 600,
    'child_agents.auto_complete.idle_after': 60,
    'child_agents.approvals.timeout': 86_400,
    clis: {},
    'limits.max_sessions': 200,
    'limits.spawns_per_minute': 60,
    'child_agents.auto_complete.detect_completion_phrases': true,
    'child_agents.auto_complete.completion_patterns': ['complete', 'done', 'finished', 'all tests pass'],
    'child_agents.auto_complete.require_parent_approval': false,
    'child_agents.cleanup.auto_kill_on_complete': false,
    'child_agents.cleanup.auto_archive_transcript': true,
    'child_agents.cleanup.archive_path': 'archives',
    'child_agents.cleanup.close_tmux_session': false,
    'child_agents.notifications.notify_parent_on_complete': true,
    'child_agents.notifications.notify_parent_on_error': true,
    'child_agents.notifications.notify_parent_on_idle': true,
    'child_agents.notifications.notify_parent_on_checkpoint': false,
    'child_agents.notifications.webhook.timeout': 10,
    'child_agents.notifications.webhook.attempts': 12,
    'child_agents.progress.enable_token_tracking': true,
    'child_agents.progress.enable_tool_tracking': true,
    'child_agents.progress.snapshot_interval': 30,
    'sessions.default_working_dir_behavior': 'inherit',
    'sessions.inherit_environment_vars': ['SSH_AUTH_SOCK', 'PATH'],
    'sessions.observe': true,
    'sessions.auto_restore': true,
    'sessions.isolation': 'none',
    'sessions.isolation_writable': [],
    'sessions.naming.pattern': '{agent_type}-{friendly_name}',
    'sessions.naming.fallback': '{agent_type}-{short_id}',
    'limits.max_depth': 4,
    'limits.max_children': 16,
    'limits.max_descendants': 64,
    'models.fallback': [],
    'models.timeout_seconds': 120,
    'models.retry.max_attempts': 6,
    'models.retry.first_ms': 1000,
    'models.retry.longest_ms': 60_000,
    'models.aliases.sonnet': 'anthropic/claude-sonnet-5-5',
    'models.aliases.opus': 'anthropic/claude-opus-5-5',
    'models.aliases.haiku': 'anthropic/claude-haiku-5-5',
    'models.prices': {},
    'models.providers': {},
    'runtime.mode': 'auto',
    'runtime.max_iters': 100,
    'runtime.mcp_servers': {},
    'runtime.on_restart': 'fail',
    'runtime.max_concurrent': 16,
    'runtime.result_chars': 30_000,
    'runtime.compact_at': 0.8,
    'runtime.context_tokens': 128_000,
    'runtime.approvals': [],
    'runtime.web.allow': [],
    'runtime.web.deny': [],
    'journal.fsync': 'group',
    'journal.group_commit_ms': 5,
    'journal.group_commit_events': 1000,
    'journal.segment_bytes': 67_108_864,
    'journal.reread_ms': 120_000,
    'journal.reserve_bytes': 8_388_608,
    'redaction.rules': [],
    'redaction.known_env': ['*_TOKEN', '*_KEY', '*_SECRET', '*PASSWORD*'],
    'redaction.keys': [],
    'http.host': '127.0.0.1',
    'http.max_body_bytes': 4_194_304,
    'http.sse.heartbeat_ms': 15_000,
    'http.sse.stall_ms': 30_000,
    'http.sse.max_clients': 512,
    'tmux.socket': 'muster',
    'vault.keep_days': 7,
  })
})

test('[MUS-146] no shipped default skips a permission question', () => {
  expect(JSON.stringify(defaultConfig)).not.toMatch(/bypass|dangerously|permission-mode/)
})

test('[MUS-143] every key, also inside free names and lists, is described', () => {
  const keys = configKeys()
  expect(keys.map(({ key }) => key)).toEqual(
    expect.arrayContaining([
      'claude.agent_configs.<name>.cli',
      'claude.presets.<name>.args',
      'redaction.rules[].pattern',
      'http.port',
      'http.sse.stall_ms',
      'models.providers.<name>.keyring',
      'runtime.approvals[].pattern',
    ]),
  )
  expect(keys.filter(({ description }) => description === '')).toEqual([])
})

test('[MUS-143] a key tells its values and its default', () => {
  const mode = configKeys().find(({ key }) => key === 'child_agents.mode')
  expect(mode).toMatchObject({ values: 'auto | manual | supervised', default: 'auto', isSection: false })
  const args = configKeys().find(({ key }) => key === 'claude.default_args')
  expect(args).toMatchObject({ values: 'list of string', default: [] })
  const port = configKeys().find(({ key }) => key === 'http.port')
  expect(port).toMatchObject({ values: 'whole number', default: undefined })
})

test('[MUS-138] the keys beside a path are known below free names and in lists, and none where names are free', () => {
  expect(keysAt(['tmux'])).toEqual(['socket'])
  expect(keysAt(['claude', 'agent_configs', 'Engineer'])).toEqual(['model', 'args', 'cli'])
  expect(keysAt(['redaction', 'rules', 0])).toEqual(['name', 'pattern', 'flags'])
  expect(keysAt(['claude', 'agent_configs'])).toEqual([])
  expect(keysAt(['nowhere', 'else'])).toEqual([])
})

test('[SM-46] arguments of an agent type that are left out stay apart from an empty list', () => {
  const { agent_configs } = Config.parse({
    claude: { agent_configs: { a: { model: 'opus' }, b: { args: [] } } },
  }).claude
  expect(agent_configs['a']).toEqual({ model: 'opus' })
  expect(agent_configs['b']).toEqual({ args: [] })
})

test('[MUS-255] what is written of a built-in provider is laid over it, and others are added', () => {
  const { models } = Config.parse({
    models: {
      providers: {
        anthropic: { keyring: 'muster/anthropic' },
        mine: { protocol: 'compatible', base_url: 'http://10.0.0.7:8000/v1' },
        second: { protocol: 'openai', key_env: 'SECOND' },
      },
    },
  })
  const providers = providersOf(models)
  expect(providers.map(({ name }) => name)).toEqual([...builtInProviders.keys(), 'mine', 'second'])
  expect(providers[0]).toMatchObject({ key_env: 'ANTHROPIC_API_KEY', keyring: 'muster/anthropic' })
  expect(providers.at(-1)).toMatchObject({ base_url: 'https://api.openai.com/v1', key_env: 'SECOND' })
  // Without an address the SDK takes one from a variable that was meant for another program.
  const unaddressed = providers.filter(({ base_url }) => base_url === undefined)
  expect(unaddressed.map(({ name }) => name)).toEqual(['scripted'])
  expect(providers.at(-2)).toEqual({
    name: 'mine',
    protocol: 'compatible',
    base_url: 'http://10.0.0.7:8000/v1',
    models: [],
    isGuessed: false,
  })
})

test.each([
  ['a shell line as program', { claude: { default_command: 'claude --plan' } }],
  ['a pattern that matches nothing at all', { redaction: { rules: [{ name: 'x', pattern: 'a*' }] } }],
  ['a pattern that does not compile', { redaction: { rules: [{ name: 'x', pattern: '(' }] } }],
  ['a global flag', { redaction: { rules: [{ name: 'x', pattern: 'a', flags: 'g' }] } }],
  ['an unknown placeholder', { sessions: { naming: { pattern: '{agent}' } } }],
  ['a slash in a session name', { sessions: { naming: { fallback: '../{short_id}' } } }],
  ['a dot in an agent type', { claude: { agent_configs: { 'a.b': {} } } }],
  ['half a second', { child_agents: { progress: { snapshot_interval: 0.5 } } }],
  ['a model without its provider', { models: { default: 'opus' } }],
  ['a provider that says nothing of itself', { models: { providers: { mine: {} } } }],
  ['a compatible provider without address', { models: { providers: { mine: { protocol: 'compatible' } } } }],
  ['a provider without key or address', { models: { providers: { mine: { protocol: 'openai' } } } }],
  ['a key in an address', { models: { providers: { openai: { base_url: 'https://me:key@example.org' } } } }],
  ['a key in a query', { models: { providers: { openai: { base_url: 'https://example.org/v1?key=x' } } } }],
  ['an option as keyring entry', { models: { providers: { openai: { keyring: 'a/--all' } } } }],
  ['another scripted model', { models: { providers: { scripted: { base_url: 'https://example.org' } } } }],
  ['a key that is written down', { models: { providers: { openai: { key: 'sk-1' } } } }],
  ['a run without turns', { runtime: { max_iters: 0 } }],
  ['a tool that is narrowed in its name', { runtime: { approvals: [{ tool: 'Bash(git)', action: 'ask' }] } }],
  ['an approval that says nothing', { runtime: { approvals: [{ tool: 'Bash' }] } }],
  ['an address as a host', { runtime: { web: { allow: ['https://example.org/'] } } }],
  ['a key that is not known', { tmux: { sockets: 'muster' } }],
])('[MUS-139] %s is refused', (_, input) => {
  expect(Config.safeParse(input).success).toBe(false)
})
