import { expect, test } from 'vitest'
import { defaultConfig } from '../config.ts'
import { projectMaySet } from './config-keys.ts'
import { flattenConfig } from './flatten-config.ts'

test('[MUS-128] an untrusted project may set only these keys', () => {
  const all = [
    ...flattenConfig(defaultConfig),
    { key: 'claude.agent_configs.engineer.model', value: 'opus' },
    { key: 'claude.agent_configs.engineer.args', value: [] },
    { key: 'claude.agent_configs.engineer.cli', value: 'codex' },
    { key: 'claude.presets.quick.model', value: 'opus' },
    { key: 'claude.presets.quick.args', value: [] },
    { key: 'child_agents.notifications.webhook.url', value: 'http://evil.example' },
    { key: 'http.port', value: 1 },
    { key: 'models.default', value: 'mine/model' },
    { key: 'models.providers.anthropic.base_url', value: 'http://evil.example' },
    { key: 'models.providers.mine.protocol', value: 'compatible' },
    { key: 'models.providers.mine.key_env', value: 'ANTHROPIC_API_KEY' },
    { key: 'models.providers.mine.keyring', value: 'muster/anthropic' },
  ]
  expect(
    all.filter(({ key, value }) => projectMaySet(key, value, value) === 'always').map(({ key }) => key),
  ).toEqual([
    'child_agents.mode',
    'child_agents.auto_complete.enabled',
    'child_agents.auto_complete.idle_timeout',
    'child_agents.auto_complete.detect_completion_phrases',
    'child_agents.auto_complete.completion_patterns',
    'child_agents.auto_complete.require_parent_approval',
    'child_agents.notifications.notify_parent_on_complete',
    'child_agents.notifications.notify_parent_on_error',
    'child_agents.notifications.notify_parent_on_idle',
    'child_agents.notifications.notify_parent_on_checkpoint',
    'child_agents.progress.enable_token_tracking',
    'child_agents.progress.enable_tool_tracking',
    'child_agents.progress.snapshot_interval',
    'sessions.default_working_dir_behavior',
    'sessions.isolation',
    'sessions.naming.pattern',
    'sessions.naming.fallback',
    'limits.max_depth',
    'limits.max_children',
    'limits.max_descendants',
    'limits.max_sessions',
    'limits.spawns_per_minute',
    'runtime.mode',
    'runtime.max_iters',
    'runtime.max_concurrent',
    'claude.agent_configs.engineer.model',
    'claude.presets.quick.model',
  ])
})

test.each([
  { key: 'limits.max_depth', value: 3, current: 4, allowed: true },
  { key: 'limits.max_depth', value: 5, current: 4, allowed: false },
  { key: 'runtime.max_iters', value: 101, current: 100, allowed: false },
  { key: 'runtime.mode', value: 'chat', current: 'auto', allowed: true },
  { key: 'runtime.mode', value: 'auto', current: 'chat', allowed: false },
  { key: 'child_agents.mode', value: 'supervised', current: 'auto', allowed: true },
  { key: 'child_agents.mode', value: 'auto', current: 'supervised', allowed: false },
  { key: 'child_agents.mode', value: 'auto', current: 'manual', allowed: false },
  { key: 'child_agents.auto_complete.require_parent_approval', value: true, current: false, allowed: true },
  { key: 'child_agents.auto_complete.require_parent_approval', value: false, current: true, allowed: false },
])('[MUS-128] $key to $value over $current: $allowed', ({ key, value, current, allowed }) => {
  expect(projectMaySet(key, value, current) === 'always').toBe(allowed)
})

test('[MUS-309] a trusted project decides how work in it is done, never what is about the daemon or leads out of the machine', () => {
  const named = [
    ['clis.mine.command', './mine'],
    ['claude.agent_configs.engineer.args', []],
    ['runtime.mcp_servers.mine.command', './server'],
    ['http.port', 1],
    ['child_agents.notifications.webhook.url', 'http://evil.example'],
    ['models.providers.mine.key_env', 'ANTHROPIC_API_KEY'],
  ] as const
  const all = [
    ...flattenConfig(defaultConfig),
    ...named.map(([key, value]): { key: string; value: unknown } => ({ key, value })),
  ]
  // The loosest value there is, over one that nobody could loosen further.
  const verdict = (key: string) => projectMaySet(key, Number.POSITIVE_INFINITY, 0)
  const may = all.filter(({ key }) => verdict(key) === 'trusted').map(({ key }) => key)
  expect(may).toEqual([
    'claude.default_command',
    'claude.default_args',
    'claude.agent_configs',
    'claude.presets',
    'child_agents.mode',
    'sessions.inherit_environment_vars',
    'sessions.isolation',
    'limits.max_depth',
    'limits.max_children',
    'limits.max_descendants',
    'limits.max_sessions',
    'limits.spawns_per_minute',
    'runtime.max_iters',
    'runtime.approvals',
    'clis.mine.command',
    'claude.agent_configs.engineer.args',
    'runtime.mcp_servers.mine.command',
  ])
})
