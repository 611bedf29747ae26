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
  /** It tells what its calls cost. No prices of models are known, so that nothing else could be counted. */
  readonly tellsCost: boolean
  /** The variables it is configured by, which a session of it inherits: its provider, its folders, its switches. */
  readonly environment: RegExp
  /** Variables that would make a new session believe that it runs inside another; no session inherits them. */
  readonly sessionMarks?: RegExp
  /** Arguments that make it ask for nothing; a permission mode that came in by one of these would not be shown. */
  readonly bypassArgs: readonly string[]
}

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
    environment:
      /^(ANTHROPIC_\w+|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(USE|SKIP|DISABLE|ENABLE|MAX)_\w+|CLAUDE_CODE_TMPDIR|CLAUDE_CODE_SANDBOXED|DISABLE_\w+|IS_SANDBOX)$/,
    sessionMarks:
      /^(CLAUDECODE|CLAUDE_CODE_(SESSION\w*|CHILD_SESSION|ENTRYPOINT|MESSAGING_\w+|SSE_PORT)|CLAUDE_(ENV_FILE|PID|PROJECT_DIR|EFFORT))$/,
    bypassArgs: ['--dangerously-skip-permissions'],
  },
  codex: {
    title: 'Codex',
    npm: { package: '@openai/codex', tested: [{ version: '0.166.0', mb: 436 }] },
    record: 'transcript',
    tellsCost: false,
    environment: /^(OPENAI_\w+|CODEX_\w+)$/,
    bypassArgs: ['--dangerously-bypass-approvals-and-sandbox', '--yolo'],
  },
  opencode: {
    title: 'OpenCode',
    npm: { package: 'opencode-ai', tested: [{ version: '1.18.33', mb: 354 }] },
    record: 'hook',
    tellsCost: false,
    environment: /^(OPENCODE_\w+|ANTHROPIC_\w+|OPENAI_\w+|GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: [],
  },
  gemini: {
    title: 'Gemini CLI',
    npm: { package: '@google/gemini-cli', tested: [{ version: '0.61.0', mb: 100 }] },
    record: 'transcript',
    tellsCost: false,
    environment: /^(GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: ['--yolo', '-y', '--approval-mode=yolo', '--approval-mode yolo'],
  },
  pi: {
    title: 'pi',
    npm: { package: '@earendil-works/pi-coding-agent', tested: [{ version: '0.74.2', mb: 195 }] },
    record: 'transcript',
    tellsCost: false,
    environment: /^(PI_\w+|ANTHROPIC_\w+|OPENAI_\w+|GEMINI_\w+|GOOGLE_\w+)$/,
    bypassArgs: [],
  },
  custom: {
    title: 'your own program',
    tellsCost: false,
    environment: /^$/,
    bypassArgs: [],
  },
} as const satisfies Record<string, AgentCliFacts>

type Name = keyof typeof table

/** A CLI known by name, which is also the name of its program on the PATH. */
export type CodingCliName = Exclude<Name, 'custom'>

/** Every agent CLI by its name. `custom` stands for any program that the settings name under `clis`. */
export const agentClis: Readonly<Record<Name, AgentCliFacts>> = table

export const agentCliNames = Object.keys(table) as readonly Name[]

export const codingCliNames = agentCliNames.filter((name): name is CodingCliName => name !== 'custom')

export const isCodingCli = (word: string): word is CodingCliName =>
  (codingCliNames as readonly string[]).includes(word)
