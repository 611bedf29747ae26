import type { Dialog } from '../../src/contract/signal.ts'
import { type Profile, profiles } from './profiles.ts'
import { screens, World } from './world.ts'

type AskKind = 'permission' | 'question' | 'plan'
export type Running = { readonly callId: string; readonly tool: string; readonly input: unknown }

const tools: Readonly<Record<AskKind, string>> = {
  permission: 'Bash',
  question: 'AskUserQuestion',
  plan: 'ExitPlanMode',
}

/** One agent at work: each act changes what is true and sends what this CLI would send. */
export class Agent extends World {
  #calls = 0
  #responses = 0
  lastText: number[] = []

  constructor(profile: Profile = profiles[0] as Profile) {
    super(profile)
  }

  /** The program starts and shows its box. */
  start(): void {
    this.becomes({ lifecycle: 'starting', health: 'ok' })
    this.pass(600)
    this.shows(screens.calm)
    const foreignId = `conversation-${this.profile.cli}`
    this.tell({ kind: 'ready', reason: 'startup', foreignId }, { source: 'hook' })
  }

  prompt(origin: 'person' | 'task' = 'person'): void {
    this.completion = undefined
    this.becomes({ lifecycle: 'running', activity: 'thinking', waitingFor: 'none', health: 'ok' })
    this.tell({ kind: 'prompt', origin }, { source: 'hook' })
    this.line({ kind: 'prompt', origin })
    this.shows(screens.working)
  }

  /** A line of the transcript, where there is one. */
  line(unsent: Parameters<World['tell']>[0], isWitness = true): number | undefined {
    if (!this.profile.hasTranscript) return undefined
    return this.tell(unsent, { source: 'transcript', isWitness })
  }

  /** The agent says something and goes on. */
  says(text: string): void {
    this.becomes({ lifecycle: 'running', activity: 'working', waitingFor: 'none', health: 'ok' })
    for (const id of [...this.#text(text, false), ...this.lastText]) this.truths.at(-1)?.witnesses.add(id)
  }

  #text(text: string, isLast: boolean): number[] {
    const source = this.profile.hasTranscript ? 'transcript' : 'hook'
    const ids = [this.tell({ kind: 'text', text }, { source, isWitness: false })]
    this.lastText = ids
    if (!this.profile.tellsFinish) return []
    const usage = { input: 900, output: 40 }
    const responseId = `r${this.#responses++}`
    const finishReason = isLast ? 'end_turn' : 'tool_use'
    return [
      this.tell(
        { kind: 'usage', responseId, model: 'm', usage, finishReason },
        { source: 'transcript', isWitness: isLast },
      ),
    ]
  }

  toolStart(input: unknown = { command: 'npm test' }, tool = this.profile.bash): Running {
    const callId = `call-${this.#calls++}`
    this.becomes({ lifecycle: 'running', activity: 'calling_tool', waitingFor: 'none', health: 'ok' })
    this.line({ kind: 'tool-start', callId, tool, input })
    this.tell({ kind: 'tool-start', callId, tool, input }, { source: 'hook' })
    this.shows(screens.working)
    return { callId, tool, input }
  }

  toolEnd({ callId, tool }: Running, ok = true): void {
    this.becomes({ lifecycle: 'running', activity: 'thinking', waitingFor: 'none', health: 'ok' })
    this.shows(screens.working)
    this.tell({ kind: 'tool-end', callId, tool, ok }, { source: 'hook' })
    this.line({ kind: 'tool-end', callId, ok })
  }

  tool(ms = 3000): void {
    const call = this.toolStart()
    this.wait(ms)
    this.toolEnd(call)
    this.pass(300)
  }

  /** A tool begins and asks a person first. */
  ask(ask: AskKind = 'permission', agent?: string): Running {
    const { profile } = this
    const tool = ask === 'permission' ? profile.bash : tools[ask]
    const callId = `call-${this.#calls++}`
    const input = ask === 'question' ? { questions: [{ question: 'Which colour?' }] } : { command: 'touch x' }
    const about = agent === undefined ? {} : { agent }
    this.line({ kind: 'tool-start', callId, tool, input, ...about }, false)
    this.tell({ kind: 'tool-start', callId, tool, input, ...about }, { source: 'hook', isWitness: false })
    this.pass(40)
    this.becomes({ lifecycle: 'waiting_input', activity: 'idle', waitingFor: ask, health: 'ok' })
    const detail = {
      ...(profile.asksWithTool && { tool, input }),
      ...(profile.asksWithCallId && { callId }),
      ...about,
    }
    this.tell({ kind: 'asking', ask, ...detail }, { source: 'hook' })
    this.pass(700)
    this.shows({ ...screens.blank, dialog: dialog(ask) })
    return { callId, tool, input }
  }

  /** Six seconds later one CLI says again, vaguely, that it needs somebody. */
  nag(): void {
    if (this.profile.cli === 'claude')
      this.tell(
        { kind: 'asking', ask: 'permission', detail: 'Claude needs your permission' },
        { source: 'hook' },
      )
  }

  /** The turn ends as it should. */
  finish(text: string, background = 0): void {
    const { profile } = this
    this.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
    this.#text(text, true)
    this.pass(30)
    const told = profile.countsBackground ? background : 0
    const end = this.tell({ kind: 'turn-end', text, background: told }, { source: 'hook' })
    this.lastText.push(end)
    this.ends = [end]
    if (profile.transcriptEndsTurn) this.ends.push(this.line({ kind: 'turn-end', background: 0 }) ?? end)
    this.shows(screens.calm)
    this.status('idle')
    this.completion = undefined
    if (background === 0) return
    // That something works on is told by the turn's end alone; all else looks like any other end.
    this.becomes({ lifecycle: 'running', activity: 'working', waitingFor: 'background', health: 'ok' }, false)
    this.truths.at(-1)?.witnesses.add(end)
  }

  ends: number[] = []

  /** The work is done, and from now on it should be found so. */
  isComplete(): void {
    this.completion = { needs: [this.lastText, this.ends] }
  }

  status(status: 'idle'): void {
    if (this.profile.hasStatusFile) this.tell({ kind: status }, { source: 'process', agoMs: -20 })
  }

  /** A person presses Escape. Before any output one CLI leaves no trace but its screen. */
  interrupt(hasOutput: boolean, screen: World['screen'] = screens.calm): void {
    const { profile } = this
    this.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
    for (const by of profile.interruptBy) {
      if (by === 'turn-end') this.tell({ kind: 'turn-end', background: 0 }, { source: 'hook' })
      else if (by === 'hook') this.tell({ kind: 'interrupted' }, { source: 'hook' })
      else if (hasOutput || profile.cli !== 'claude') this.line({ kind: 'interrupted' })
    }
    this.shows(screen)
    this.status('idle')
    this.completion = undefined
  }

  /** The turn fails: the provider refused. */
  fail(error: string, limit?: { readonly resetsAtMs?: number }): void {
    this.becomes(
      limit
        ? { lifecycle: 'failed', activity: 'idle', waitingFor: 'limit', health: 'limited' }
        : { lifecycle: 'failed', activity: 'idle', health: 'ok' },
    )
    const failed = { kind: 'turn-failed', error, status: limit ? 429 : 400, ...(limit && { limit }) } as const
    this.line(failed)
    this.pass(20)
    this.tell(failed, { source: 'hook' })
    this.shows({ ...screens.calm, ...(limit ? { limit: { text: error } } : { error }) })
    this.status('idle')
    this.completion = undefined
  }

  /** The provider is overloaded and the CLI tries again; nothing but the screen tells. */
  retry(attempt: number): void {
    this.becomes({ lifecycle: 'running', activity: 'thinking', waitingFor: 'none', health: 'retrying' })
    this.shows({ ...screens.working, retry: { attempt, of: 10 } })
  }

  quit(): void {
    this.becomes({ lifecycle: 'idle', health: 'gone' }, false)
    this.tell({ kind: 'gone', reason: this.profile.quitReason }, { source: 'hook' })
    this.shows(screens.blank)
    this.pass(150)
    this.tell({ kind: 'exited', code: 0 }, { source: 'process' })
    this.completion = undefined
  }

  crash(ending: { code?: number; signal?: string }): void {
    this.becomes({ lifecycle: 'error', health: 'crashed' }, false)
    this.shows(screens.blank)
    this.tell({ kind: 'exited', ...ending }, { source: 'process' })
    this.completion = undefined
  }
}

const dialog = (kind: AskKind): Dialog => ({
  kind,
  title: kind === 'permission' ? 'Do you want to proceed?' : 'Which colour?',
  options: ['Yes', 'No'],
  selected: 0,
})
