import type { AgentCliName } from '../../src/contract/config/names.ts'

/** What one version of a CLI tells, and what it keeps to itself, as it was seen in recordings of it. */
export type Profile = {
  readonly cli: AgentCliName
  readonly version: string
  /** It writes a file whose lines can be followed. */
  readonly hasTranscript: boolean
  /** Its transcript gives each response's reason to stop. */
  readonly tellsFinish: boolean
  /** A turn's end is in the transcript too. */
  readonly transcriptEndsTurn: boolean
  /** It keeps a file with its own status. */
  readonly hasStatusFile: boolean
  /** What an interrupt leaves: a hook, a line of the transcript, a turn's end that looks like any other. */
  readonly interruptBy: readonly ('hook' | 'transcript' | 'turn-end')[]
  /** It asks before risky tools. */
  readonly asks: boolean
  /** The tool call's id is known when it asks. */
  readonly asksWithCallId: boolean
  readonly asksWithTool: boolean
  readonly countsBackground: boolean
  readonly bash: string
  readonly quitReason: string
}

const claude = {
  cli: 'claude',
  hasTranscript: true,
  tellsFinish: true,
  transcriptEndsTurn: false,
  hasStatusFile: true,
  interruptBy: ['transcript'],
  asks: true,
  asksWithCallId: false,
  asksWithTool: true,
  countsBackground: true,
  bash: 'Bash',
  quitReason: 'prompt_input_exit',
} as const

export const profiles: readonly Profile[] = [
  { ...claude, version: '2.1.325' },
  { ...claude, version: '2.1.197' },
  {
    cli: 'codex',
    version: '0.166.0',
    hasTranscript: true,
    tellsFinish: false,
    transcriptEndsTurn: true,
    hasStatusFile: false,
    interruptBy: ['hook', 'transcript'],
    asks: true,
    asksWithCallId: false,
    asksWithTool: true,
    countsBackground: false,
    bash: 'Bash',
    quitReason: 'other',
  },
  {
    cli: 'opencode',
    version: '1.18.33',
    hasTranscript: false,
    tellsFinish: false,
    transcriptEndsTurn: false,
    hasStatusFile: false,
    interruptBy: ['hook'],
    asks: true,
    asksWithCallId: true,
    asksWithTool: true,
    countsBackground: false,
    bash: 'bash',
    quitReason: 'exit',
  },
  {
    cli: 'gemini',
    version: '0.61.0',
    hasTranscript: true,
    tellsFinish: false,
    transcriptEndsTurn: false,
    hasStatusFile: false,
    interruptBy: ['turn-end', 'transcript'],
    asks: true,
    asksWithCallId: false,
    asksWithTool: false,
    countsBackground: false,
    bash: 'run_shell_command',
    quitReason: 'exit',
  },
  {
    cli: 'pi',
    version: '0.74.2',
    hasTranscript: true,
    tellsFinish: true,
    transcriptEndsTurn: false,
    hasStatusFile: false,
    interruptBy: ['turn-end', 'transcript'],
    asks: false,
    asksWithCallId: false,
    asksWithTool: false,
    countsBackground: false,
    bash: 'bash',
    quitReason: 'quit',
  },
]

export const claudes = profiles.filter(({ cli }) => cli === 'claude')
export const asking = profiles.filter(({ asks }) => asks)
