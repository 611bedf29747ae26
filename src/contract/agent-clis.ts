import type { SignalSource } from './signal.ts'

/** Plain facts of one agent CLI. How it is started and how it speaks is in `src/adapters/<name>`. */
export type AgentCliFacts = {
  /** What people call it. */
  readonly title: string
  /** Where it is installed from, and the versions that the tests run, the default first; `mb` is what each takes on Linux x64. */
  readonly npm?: {
    readonly package: string
    readonly tested: readonly { readonly version: string; readonly mb: number }[]
  }
  /** The source that its tool calls and model calls are recorded from; the others are signs only, so that nothing is counted twice. */
  readonly record?: SignalSource
  /** It tells what its calls cost. What the others spend is computed with the price list. */
  readonly tellsCost: boolean
  /** The model calls of which it tells no tokens, by what it makes them for, as people are told. */
  readonly untold: Readonly<Partial<Record<UntoldCall, string>>>
  /** The variables it is configured by, which a session of it inherits: its provider, its folders, its switches. */
  readonly environment: RegExp
  /** Variables that would make a new session believe that it runs inside another; no session inherits them. */
  readonly sessionMarks?: RegExp
  /** Arguments that make it ask for nothing; a permission mode that came in by one of these would not be shown. */
  readonly bypassArgs: readonly string[]
  /** Arguments that change nothing that a person is asked, and name no file or program; `true` for those with a value. */
  readonly quietArgs: Readonly<Record<string, boolean>>
}

/** Calls that a CLI may keep to itself: to name a conversation, to compact one, and what an interrupt broke off. */
export type UntoldCall = 'naming' | 'compaction' | 'interrupt'

const table = {
  claude: {
    title: 'Claude Code',
    npm: {
      package: '@anthropic-ai/claude-code',
      tested: [
        { version: '2.1.325', mb: 350 },
        { version: '2.1.197', mb: 235 },
      ],
    },
    record: 'transcript',
    tellsCost: true,
    untold: {
      interrupt: 'the rest of an answer that was interrupted',
      compaction: 'a compaction, until its conversation is left (older versions: never)',
    },
    environment:
      /^(ANTHROPIC_\w+|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(USE|SKIP|DISABLE|ENABLE|MAX)_\w+|CLAUDE_CODE_TMPDIR|CLAUDE_CODE_SANDBOXED|DISABLE_\w+|IS_SANDBOX)$/,
    sessionMarks:
      /^(CLAUDECODE|CLAUDE_CODE_(SESSION\w*|CHILD_SESSION|ENTRYPOINT|MESSAGING_\w+|SSE_PORT)|CLAUDE_(ENV_FILE|PID|PROJECT_DIR|EFFORT))$/,
    bypassArgs: ['--dangerously-skip-permissions'],
    quietArgs: {
      '--verbose': false,
      '--max-turns': true,
      '--append-system-prompt': true,
      '--model': true,
      '--fallback-model': true,
      '--effort': true,
      '--disallowedTools': true,
    },
  },
  codex: {
    title: 'Codex',
    npm: { package: '@openai/codex', tested: [{ version: '0.166.0', mb: 436 }] },
    record: 'transcript',
    tellsCost: false,
    untold: { naming: 'the call that names a conversation', interrupt: 'an answer that was interrupted' },
    environment: /^(OPENAI_\w+|CODEX_\w+)$/,
    bypassArgs: ['--dangerously-bypass-approvals-and-sandbox', '--yolo'],
    quietArgs: { '--model': true, '-m': true, '--no-alt-screen': false },
  },
  opencode: {
    title: 'OpenCode',
    npm: { package: 'opencode-ai', tested: [{ version: '1.18.33', mb: 354 }] },
    record: 'hook',
    tellsCost: false,
    untold: { naming: 'the call that names a conversation', interrupt: 'an answer that was interrupted' },
    environment: /^(OPENCODE_\w+|ANTHROPIC_\w+|OPENAI_\w+|GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: [],
    quietArgs: { '--model': true, '-m': true },
  },
  gemini: {
    title: 'Gemini CLI',
    npm: { package: '@google/gemini-cli', tested: [{ version: '0.61.0', mb: 100 }] },
    record: 'transcript',
    tellsCost: false,
    untold: { compaction: 'a compaction', interrupt: 'an answer that was interrupted' },
    environment: /^(GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: ['--yolo', '-y', '--approval-mode=yolo', '--approval-mode yolo'],
    quietArgs: { '--model': true, '-m': true },
  },
  pi: {
    title: 'pi',
    npm: { package: '@earendil-works/pi-coding-agent', tested: [{ version: '0.74.2', mb: 195 }] },
    record: 'transcript',
    tellsCost: false,
    untold: { compaction: 'a compaction', interrupt: 'an answer that was interrupted' },
    environment: /^(PI_\w+|ANTHROPIC_\w+|OPENAI_\w+|GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: [],
    quietArgs: { '--model': true, '--thinking': true },
  },
  custom: {
    title: 'your own program',
    tellsCost: false,
    untold: {},
    environment: /^$/,
    bypassArgs: [],
    quietArgs: {},
  },
} as const satisfies Record<string, AgentCliFacts>

type Name = keyof typeof table

/** A CLI known by name, which is also the name of its program on the PATH. */
export type CodingCliName = Exclude<Name, 'custom'>

/** Every agent CLI by its name. `custom` stands for any program that the settings name under `clis`. */
export const agentClis: Readonly<Record<Name, AgentCliFacts>> = table

export const agentCliNames = Object.keys(table) as readonly Name[]

export const codingCliNames = agentCliNames.filter((name): name is CodingCliName => name !== 'custom')

/** Whether a session's CLI tells what its calls cost. */
export const tellsCost = (cli: string | undefined): boolean =>
  cli !== undefined && isCodingCli(cli) && agentClis[cli].tellsCost

export const isCodingCli = (word: string): word is CodingCliName =>
  (codingCliNames as readonly string[]).includes(word)
