import type { ScreenReading, Signal, SignalSource } from '../../../src/contract/signal.ts'
import { type CaseConfig, type CorpusCase, type Expected, isHeldOut } from '../corpus-case.ts'

type Unsent = Signal extends infer S ? (S extends Signal ? Omit<S, 'at' | 'source'> : never) : never

/** A signal at a second. */
const from =
  (source: SignalSource) =>
  (second: number, unsent: Unsent): Signal =>
    ({ ...unsent, source, at: Math.round(second * 1000) }) as Signal

export const hook = from('hook')
export const line = from('transcript')
export const status = from('process')
/** A reading of the screen at a second. */
export const screen = (second: number, reading: ScreenReading): Signal =>
  from('pane')(second, { kind: 'screen', reading })

export const ready = (second: number): Signal => hook(second, { kind: 'ready', reason: 'startup' })
export const prompt = (second: number): Signal => hook(second, { kind: 'prompt', origin: 'person' })
export const ended = (second: number, text: string, background = 0): Signal =>
  hook(second, { kind: 'turn-end', text, background })
export const began = (
  second: number,
  callId: string,
  tool = 'Bash',
  input: unknown = { command: callId },
): Signal => hook(second, { kind: 'tool-start', callId, tool, input })
export const over = (second: number, callId: string, tool = 'Bash'): Signal =>
  hook(second, { kind: 'tool-end', callId, tool, ok: true })

type Told = {
  readonly signals: readonly Signal[]
  /** The second at which it is judged. */
  readonly at: number
  readonly is: Omit<Expected, 'complete'> & { readonly complete?: boolean }
  readonly cli?: CorpusCase['cli']
  readonly version?: string
  readonly config?: CaseConfig
  readonly undecidable?: string
}

/** A case written by hand: a trap that was met in life or that a rule must not fall into. */
export function handCase(name: string, told: Told): CorpusCase {
  const { signals, at, is, cli = 'claude', version = '2.1.325', config, undecidable } = told
  return {
    name: `hand/${name}`,
    cli,
    version,
    signals,
    now: at * 1000,
    ...(config && { config }),
    expected: { complete: false, ...is },
    ...(undecidable !== undefined && { undecidable }),
    heldOut: isHeldOut(`hand/${name}`),
  }
}

export const running = { lifecycle: 'running', health: 'ok' } as const
export const idle = { lifecycle: 'idle', activity: 'idle', health: 'ok' } as const
export const asked = { lifecycle: 'waiting_input', activity: 'idle', health: 'ok' } as const
