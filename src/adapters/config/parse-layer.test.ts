import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { flattenConfig } from '../../contract/config/flatten-config.ts'
import { defaultConfig } from '../../contract/config.ts'
import { mergeLayers, parseLayer } from './parse-layer.ts'

const layer = (file: string, text: string) => {
  const { values, problems } = parseLayer(text)
  expect(problems).toEqual([])
  return { file, values }
}

test('[MUS-145][SM-45][SM-48] the file of the coordination document is read as it is, its retired flags mapped and warned of', () => {
  const { config, warnings } = mergeLayers([
    layer(
      'c.yaml',
      `
claude:
  default_command: "claude"
  default_args:
    - "--bypass-permissions"
  agent_configs:
    Engineer: {model: "sonnet", args: ["--bypass-permissions"]}
    Architect: {model: "opus", args: ["--plan"]}
    Explore: {model: "haiku", args: ["--bypass-permissions"]}
    general-purpose: {model: "sonnet", args: []}
  presets:
    quick-fix: {model: "sonnet", args: ["--bypass-permissions", "--compact"]}
    deep-analysis: {model: "opus", args: ["--plan"]}
child_agents:
  mode: "auto"
  auto_complete:
    enabled: true
    idle_timeout: 600
    detect_completion_phrases: true
    completion_patterns: ["complete", "done", "finished", "all tests pass"]
  cleanup:
    auto_kill_on_complete: false
    auto_archive_transcript: true
    archive_path: "/tmp/claude-sessions/archives"
  notifications:
    notify_parent_on_complete: true
    notify_parent_on_error: true
    notify_parent_on_idle: true
    notify_parent_on_checkpoint: false
  progress:
    enable_token_tracking: true
    enable_tool_tracking: true
    snapshot_interval: 30
sessions:
  default_working_dir_behavior: "inherit"
  inherit_environment_vars: ["SSH_AUTH_SOCK", "PATH"]
  naming:
    pattern: "{agent_type}-{friendly_name}"
    fallback: "{agent_type}-{short_id}"
`,
    ),
  ])
  const bypass = ['--permission-mode', 'bypassPermissions']
  const plan = ['--permission-mode', 'plan']
  expect(config.claude).toEqual({
    default_command: 'claude',
    default_args: bypass,
    agent_configs: {
      engineer: { model: 'sonnet', args: bypass },
      architect: { model: 'opus', args: plan },
      explore: { model: 'haiku', args: bypass },
      'general-purpose': { model: 'sonnet', args: [] },
    },
    presets: {
      'quick-fix': { model: 'sonnet', args: bypass },
      'deep-analysis': { model: 'opus', args: plan },
    },
  })
  expect(warnings).toHaveLength(7)
  expect(warnings[0]).toMatch(/^c\.yaml:4 claude\.default_args: --bypass-permissions is not a flag/)
  expect(warnings.at(-2)).toMatch(/quick-fix\.args: --compact is not a flag of Claude Code and was dropped/)
})

test('[SM-45] flags of another coding agent are left alone', () => {
  const { config, warnings } = mergeLayers([
    layer('c.yaml', 'claude: {agent_configs: {x: {cli: codex, args: [--plan]}}}'),
  ])
  expect(config.claude.agent_configs['x']?.args).toEqual(['--plan'])
  expect(warnings).toEqual([])
})

test('[MUS-61] a list of secret names that drops default ones is warned of', () => {
  const own = layer('c.yaml', 'redaction:\n  known_env: [MINE, "*_KEY"]\n')
  expect(mergeLayers([own]).warnings).toEqual([
    expect.stringMatching(
      /^c\.yaml:2 redaction\.known_env: .* so \*_TOKEN, \*_SECRET, \*PASSWORD\* no longer/,
    ),
  ])
  const more = layer('c.yaml', 'redaction: {known_env: ["*_TOKEN", "*_KEY", "*_SECRET", "*PASSWORD*", X]}')
  expect(mergeLayers([more]).warnings).toEqual([])
})

test('[MUS-137] an agent type may be called constructor', () => {
  const { config } = mergeLayers([layer('c.yaml', 'claude: {agent_configs: {constructor: {model: opus}}}')])
  expect(Object.entries(config.claude.agent_configs)).toEqual([['constructor', { model: 'opus' }]])
})

const anyName = fc.stringMatching(/^[a-z][a-z0-9-]{0,5}$/)
const anyArgs = fc.array(fc.stringMatching(/^--[a-b]{2}$/), { maxLength: 3 })
const anyAgent = fc.record({ model: fc.constantFrom('opus', 'haiku'), args: anyArgs }, { requiredKeys: [] })
const anyFlag = fc.boolean()
const sometimes = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] })
const overrides = sometimes({
  claude: sometimes({
    default_command: fc.constantFrom('claude', '/opt/claude'),
    default_args: anyArgs,
    agent_configs: fc.dictionary(anyName, anyAgent, { maxKeys: 3 }),
    presets: fc.dictionary(anyName, anyAgent, { maxKeys: 3 }),
  }),
  child_agents: sometimes({
    mode: fc.constantFrom('auto', 'manual', 'supervised'),
    auto_complete: sometimes({
      enabled: anyFlag,
      idle_timeout: fc.integer({ min: 1, max: 9999 }),
      completion_patterns: fc.array(fc.string({ minLength: 1, maxLength: 9 }), { maxLength: 3 }),
    }),
    cleanup: sometimes({ close_tmux_session: anyFlag, archive_path: fc.constantFrom('a', '~/b', '/c') }),
    notifications: sometimes({ notify_parent_on_idle: anyFlag, notify_parent_on_checkpoint: anyFlag }),
  }),
  limits: sometimes({ max_depth: fc.nat(9), max_children: fc.nat(9) }),
  http: sometimes({
    port: fc.integer({ min: 1, max: 65_535 }),
    sse: sometimes({ stall_ms: fc.integer({ min: 100, max: 999 }) }),
  }),
  redaction: sometimes({ keys: fc.array(anyName, { maxLength: 3 }) }),
  tmux: sometimes({ socket: fc.constantFrom('muster', 'default') }),
})

test('[MUS-137] whatever two valid files say, the project wins, then the user, then the default', () => {
  fc.assert(
    fc.property(overrides, overrides, (user, project) => {
      const layers = [layer('user', stringify(user)), layer('project', stringify(project))]
      const merged = mergeLayers(layers)
      const said = (index: number) => new Map(layers[index]?.values.map(({ key, value }) => [key, value]))
      const [byUser, byProject] = [said(0), said(1)]
      const defaults = new Map(flattenConfig(defaultConfig).map(({ key, value }) => [key, value]))
      const effective = new Map(flattenConfig(merged.config).map(({ key, value }) => [key, value]))
      for (const [key, value] of effective) {
        const owner = byProject.has(key) ? 'project' : byUser.has(key) ? 'user' : 'default'
        expect(value).toEqual((byProject.has(key) ? byProject : byUser.has(key) ? byUser : defaults).get(key))
        const origin = merged.origins[key]
        expect(origin === 'default' || origin === undefined ? origin : origin.file).toBe(owner)
      }
      for (const key of [...byUser.keys(), ...byProject.keys()]) expect(effective.has(key)).toBe(true)
    }),
  )
})
