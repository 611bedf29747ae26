import type { Answer as AnswerData } from '../../contract/cli/outputs.ts'
import { type Begun, shortOf } from './begin-session.ts'
import type { Ending } from './hear-answer.ts'
import type { Heard, ToolCall } from './heard.ts'

/** What is to be shown of something that was heard. */
type Shown = {
  /** Words of the agent, for standard output. */
  readonly out?: string
  /** A call that has ended. */
  readonly row?: ToolCall
  readonly status?: string
}

/** An answer while it comes: the words of one run, turn by turn, and every call that was made for it. */
export class Answer {
  readonly tools = new Map<string, ToolCall>()
  /** The message that it answers, and the run that took it. */
  messageId: string | undefined
  runId: string | undefined
  /** The last words of the agent. */
  text = ''
  #turn = ''
  isMidLine = false

  hear(heard: Heard): Shown {
    switch (heard.kind) {
      case 'taken':
        this.runId = heard.runId
        return {}
      case 'words':
        return heard.runId === this.runId ? { out: this.#words(heard) } : {}
      case 'said':
        return heard.runId === this.runId && heard.to === 'user' ? { out: this.#final(heard.text) } : {}
      case 'tool':
        return this.#call(heard)
      case 'status':
        return heard.runId === this.runId && heard.status !== 'idle' ? { status: heard.detail } : {}
      default:
        return {}
    }
  }

  /** What ends a line that was begun. */
  lineEnd(): string {
    const end = this.isMidLine ? '\n' : ''
    this.isMidLine = false
    return end
  }

  #words({ text, isDone }: Extract<Heard, { kind: 'words' }>): string {
    this.#turn += text
    if (text !== '') this.isMidLine = !text.endsWith('\n')
    if (!isDone) return text
    this.text = this.#turn
    this.#turn = ''
    return text + this.lineEnd()
  }

  #final(text: string): string {
    const rest = restOf(this.#turn || this.text, text)
    if (text.length > this.text.length || !this.text.startsWith(text)) this.text = text
    this.#turn = ''
    if (rest !== '') this.isMidLine = true
    return rest + this.lineEnd()
  }

  #call(call: ToolCall & { readonly kind: 'tool' }): Shown {
    const { kind: _, ...told } = call
    const known = { ...this.tools.get(call.callId), ...told }
    this.tools.set(call.callId, known)
    return call.result === undefined ? {} : { row: known }
  }
}

/** How the waiting for an answer came to its end. */
export type Ended = Omit<Ending, 'status'> & {
  readonly status: AnswerData['status']
  readonly durationMs: number
}

/** An answer as data: what was heard of it, and what the run that gave it used. */
export function answerData(begun: Begun, answer: Answer, ended: Ended): AnswerData {
  return {
    session_id: shortOf(begun),
    run_id: answer.runId ?? null,
    agent: begun.agent,
    status: ended.status,
    text: answer.text === '' ? (ended.detail ?? '') : answer.text,
    output: ended.output ?? null,
    usage: ended.usage ?? null,
    tools: [...answer.tools.values()].map((call) => ({
      agent: call.agent,
      tool: call.tool,
      target: call.target ?? null,
      status: call.result ?? 'running',
      duration_ms: call.durationMs ?? null,
      reason: call.reason ?? null,
    })),
    duration_ms: Math.max(0, Math.round(ended.durationMs)),
  }
}

/** What of a final text was not said yet: nothing, its end, or all of it again when what was heard had holes. */
export function restOf(heard: string, final: string): string {
  const whole = final.trimEnd()
  // A very long text is told by its beginning only.
  if (heard.trimEnd() === whole || (whole !== '' && heard.startsWith(whole))) return ''
  return whole.startsWith(heard) ? whole.slice(heard.length) : `${heard.trim() === '' ? '' : '\n\n'}${whole}`
}
