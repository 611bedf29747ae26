import type { Answer as AnswerData } from '../../contract/cli/outputs.ts'
import type { Answer } from './answer.ts'
import { type Begun, shortOf } from './begin-session.ts'
import type { Ending } from './exchange.ts'

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
