import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CodingCliName } from '../../src/contract/agent-clis.ts'

/** The coding CLIs that the tests can run. */
export type CliName = CodingCliName

/** Where a CLI is to live, and whom it is to ask. */
type HermeticOptions = {
  /** An empty folder; keep its path short, since sockets are made in it. */
  readonly home: string
  readonly modelUrl: string
  /** Where it works; a folder below home when it is left out. */
  readonly cwd?: string
  /** Whether tools run without a question. */
  readonly permissions?: 'allow' | 'ask'
  /** What OpenCode and pi call the model, which is scripted by any name; the others have one of their provider's. */
  readonly model?: string
}

/** All that one CLI needs to run on the scripted model and touch nothing of this machine's user. */
type Hermetic = {
  readonly cwd: string
  /** The whole environment: nothing of the test's own is passed on. */
  readonly env: Readonly<Record<string, string>>
  /** For its interactive start: no dialog comes up before the prompt. */
  readonly args: readonly string[]
  /** For one prompt without a terminal, with everything in `args`. */
  headless(prompt: string): string[]
  /** What was written before the start. */
  readonly files: readonly string[]
}

/** Writes a CLI's configuration into a home of its own and answers how to start it there. */
export function hermetic(cli: CliName, options: HermeticOptions): Hermetic {
  const { home, modelUrl, permissions = 'allow', model = 'scripted' } = options
  const cwd = options.cwd ?? join(home, 'work')
  const temporary = join(home, 'tmp')
  for (const folder of [cwd, temporary]) mkdirSync(folder, { recursive: true })
  const setup = setups[cli]({ home, modelUrl, cwd, model, isAllowed: permissions === 'allow' })
  for (const [file, text] of Object.entries(setup.files)) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: 0o600 })
  }
  const env = {
    // Some of them are programs for Node, and the machine's own may be too old.
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home,
    TMPDIR: temporary,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    ...setup.env,
  }
  const { args } = setup
  return {
    cwd,
    env,
    args,
    headless: (prompt) => setup.headless(prompt, args),
    files: Object.keys(setup.files),
  }
}

type Place = {
  readonly home: string
  readonly modelUrl: string
  readonly cwd: string
  readonly model: string
  readonly isAllowed: boolean
}

type Setup = {
  readonly files: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  headless(prompt: string, args: readonly string[]): string[]
}

const key = 'test-key'
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const setups: Readonly<Record<CliName, (place: Place) => Setup>> = {
  claude: ({ home, modelUrl, cwd, isAllowed }) => ({
    files: {
      [join(home, 'claude', '.claude.json')]: json({
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [key], rejected: [] },
        projects: { [cwd]: { hasTrustDialogAccepted: true } },
      }),
      [join(home, 'claude', 'settings.json')]: json({ skipDangerousModePermissionPrompt: true }),
    },
    env: {
      CLAUDE_CONFIG_DIR: join(home, 'claude'),
      CLAUDE_CODE_TMPDIR: join(home, 'tmp'),
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: key,
      // Without it a process of root refuses to run tools unasked.
      IS_SANDBOX: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    // Its own default asks a server that is not there.
    args: isAllowed ? ['--dangerously-skip-permissions'] : ['--permission-mode', 'default'],
    headless: (prompt, args) => ['-p', prompt, '--output-format', 'json', ...args],
  }),

  codex: ({ home, modelUrl, cwd, isAllowed }) => ({
    files: {
      [join(home, 'codex', 'config.toml')]: [
        'model = "gpt-5.1-codex"',
        'model_provider = "scripted"',
        // It asks only for what is to leave the sandbox: a call with sandbox_permissions "require_escalated".
        `approval_policy = "${isAllowed ? 'never' : 'on-request'}"`,
        `sandbox_mode = "${isAllowed ? 'danger-full-access' : 'workspace-write'}"`,
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[features]',
        // A daemon of its own would outlive the test and copy itself into its home.
        'daemon_auto_start = false',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        'supports_websockets = false',
        `[projects.${JSON.stringify(cwd)}]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    },
    env: { CODEX_HOME: join(home, 'codex'), SCRIPTED_KEY: key },
    args: [],
    headless: (prompt, args) => ['exec', '--skip-git-repo-check', '--json', ...args, prompt],
  }),

  opencode: ({ home, modelUrl, model, isAllowed }) => {
    const permission = isAllowed ? 'allow' : 'ask'
    const facts = { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 8000 } }
    return {
      files: {
        [join(home, 'config', 'opencode', 'opencode.json')]: json({
          autoupdate: false,
          share: 'disabled',
          model: `scripted/${model}`,
          small_model: `scripted/${model}`,
          permission: { bash: permission, edit: permission },
          provider: {
            scripted: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Scripted',
              options: { baseURL: `${modelUrl}/v1`, apiKey: key },
              models: { [model]: facts },
            },
          },
        }),
      },
      env: {
        XDG_CONFIG_HOME: join(home, 'config'),
        XDG_DATA_HOME: join(home, 'data'),
        XDG_STATE_HOME: join(home, 'state'),
        XDG_CACHE_HOME: join(home, 'cache'),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
      args: [],
      headless: (prompt, args) => ['run', '--format', 'json', ...args, prompt],
    }
  },

  gemini: ({ home, modelUrl, isAllowed }) => ({
    files: {
      [join(home, '.gemini', 'settings.json')]: json({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        ui: { hideTips: true, hideBanner: true },
      }),
    },
    env: { GEMINI_CLI_HOME: home, GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: key },
    // A named model needs no call to choose one.
    args: ['-m', 'gemini-2.5-pro', '--approval-mode', isAllowed ? 'yolo' : 'default'],
    headless: (prompt, args) => ['-p', prompt, '--output-format', 'stream-json', ...args],
  }),

  pi: ({ home, modelUrl, model }) => ({
    files: {
      [join(home, 'pi', 'models.json')]: json({
        providers: {
          scripted: {
            baseUrl: `${modelUrl}/v1`,
            api: 'openai-completions',
            apiKey: key,
            models: [{ id: model, contextWindow: 128_000, maxTokens: 8000 }],
          },
          'scripted-anthropic': {
            baseUrl: modelUrl,
            api: 'anthropic-messages',
            apiKey: key,
            models: [{ id: model, contextWindow: 128_000, maxTokens: 8000 }],
          },
        },
      }),
    },
    env: { PI_CODING_AGENT_DIR: join(home, 'pi'), PI_OFFLINE: '1' },
    args: ['--provider', 'scripted', '--model', model],
    headless: (prompt, args) => ['-p', '--mode', 'json', ...args, prompt],
  }),
}

/** What each CLI calls the commands that shorten its conversation and that begin a new one. */
export const commandsOf: Readonly<Record<CliName, { readonly compact: string; readonly clear: string }>> = {
  claude: { compact: '/compact', clear: '/clear' },
  codex: { compact: '/compact', clear: '/new' },
  opencode: { compact: '/compact', clear: '/new' },
  gemini: { compact: '/compress', clear: '/clear' },
  pi: { compact: '/compact', clear: '/new' },
}

/** A call of the CLI's own shell tool, as a script has it. */
export function shellCall(cli: CliName, command: string): { name: string; input: Record<string, string> } {
  switch (cli) {
    case 'claude':
      return { name: 'Bash', input: { command } }
    case 'codex':
      return { name: 'exec_command', input: { cmd: command } }
    case 'gemini':
      return { name: 'run_shell_command', input: { command } }
    case 'opencode':
      return { name: 'bash', input: { command, description: 'a scripted command' } }
    case 'pi':
      return { name: 'bash', input: { command } }
  }
}

/** The same call when a person is to be asked first: Codex asks only for what is to leave its sandbox. */
export function askingCall(cli: CliName, command: string): ReturnType<typeof shellCall> {
  const call = shellCall(cli, command)
  if (cli !== 'codex') return call
  const asked = { sandbox_permissions: 'require_escalated', justification: 'May I?' }
  return { ...call, input: { ...call.input, ...asked } }
}

/** One line that a CLI prints as JSON. */
export type Line = Record<string, unknown>

type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number }

export const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** What the CLI gives as the answer to its prompt. */
export const finalText: Readonly<Record<CliName, (lines: readonly Line[]) => string>> = {
  claude: (lines) => textAt(lines.at(-1), 'result'),
  codex: (lines) => textAt(last(lines, 'item.type', 'agent_message'), 'item.text'),
  opencode: (lines) => textAt(last(lines, 'type', 'text'), 'part.text'),
  gemini(lines) {
    const afterTools = lines.slice(lines.findLastIndex((line) => line['type'] === 'tool_result') + 1)
    return all(afterTools, 'role', 'assistant')
      .map((line) => textAt(line, 'content'))
      .join('')
  },
  pi(lines) {
    const message = at(last(lines, 'type', 'turn_end'), 'message.content') as Line[]
    return textAt(message.at(-1), 'text')
  },
}

/** The tokens of the whole run as the CLI itself has counted them. */
export const tokens: Readonly<Record<CliName, (lines: readonly Line[]) => object>> = {
  claude(lines) {
    const count = counter(at(lines.at(-1), 'usage'))
    return {
      input: count('input_tokens'),
      output: count('output_tokens'),
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
    }
  },
  codex(lines) {
    const count = counter(at(last(lines, 'type', 'turn.completed'), 'usage'))
    const cacheRead = count('cached_input_tokens')
    const cacheWrite = count('cache_write_input_tokens')
    return {
      input: count('input_tokens') - cacheRead - cacheWrite,
      output: count('output_tokens'),
      cacheRead,
      cacheWrite,
      reasoning: count('reasoning_output_tokens'),
    }
  },
  opencode(lines) {
    const counts = all(lines, 'type', 'step_finish').map((line) => counter(at(line, 'part.tokens')))
    const sum = (path: string) => counts.reduce((total, count) => total + count(path), 0)
    return {
      input: sum('input'),
      output: sum('output') + sum('reasoning'),
      cacheRead: sum('cache.read'),
      cacheWrite: sum('cache.write'),
      reasoning: sum('reasoning'),
    }
  },
  gemini(lines) {
    const count = counter(at(last(lines, 'type', 'result'), 'stats'))
    return {
      input: count('input'),
      cacheRead: count('cached'),
      output: count('total_tokens') - count('input_tokens'),
    }
  },
  pi(lines) {
    const counts = all(lines, 'type', 'turn_end').map((line) => counter(at(line, 'message.usage')))
    const sum = (path: string) => counts.reduce((total, count) => total + count(path), 0)
    return {
      input: sum('input'),
      output: sum('output'),
      cacheRead: sum('cacheRead'),
      cacheWrite: sum('cacheWrite'),
    }
  },
}

/** What the scripted model tells a CLI: Gemini's protocol has no word for what was written to the cache. */
export function sent(cli: CliName, usage: Usage): Usage {
  return cli === 'gemini' ? withoutWrites(usage) : usage
}

/** What the CLI must have counted; each tells some counts and not others. */
export function reported(cli: CliName, usages: readonly Usage[]): object {
  // OpenCode's client for this protocol does not read the writes.
  const counted = cli === 'gemini' || cli === 'opencode' ? usages.map(withoutWrites) : usages
  const { input, output, cacheRead, cacheWrite, reasoning } = counted.reduce(add)
  if (cli === 'gemini') return { input, output, cacheRead }
  const told = { input, output, cacheRead, cacheWrite }
  return cli === 'codex' || cli === 'opencode' ? { ...told, reasoning } : told
}

const withoutWrites = (usage: Usage): Usage => ({
  ...usage,
  input: usage.input + usage.cacheWrite,
  cacheWrite: 0,
})

const add = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  reasoning: a.reasoning + b.reasoning,
})

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Line | undefined)?.[name], value)

const textAt = (value: unknown, path: string): string => {
  const text = at(value, path)
  return typeof text === 'string' ? text : ''
}

const counter = (value: unknown) => (path: string) => at(value, path) as number
const all = (lines: readonly Line[], path: string, value: string) =>
  lines.filter((line) => at(line, path) === value)
const last = (lines: readonly Line[], path: string, value: string) => all(lines, path, value).at(-1)
