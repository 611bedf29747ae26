import * as z from 'zod'
import { guardTurn, type SeenCall, unguarded } from '../core/agent-loop/guards.ts'
import { statusOf } from '../core/agent-loop/status-phrases.ts'
import type { ModelCall, ModelTurn, ToolOffer } from '../ports/model.ts'
import type { Tool } from '../ports/tools.ts'
import type { AgentRun, RunDeps, RunEnd } from './agent-run.ts'
import { askModel } from './ask-model.ts'
import { type DoneCall, runCall } from './run-call.ts'

/** The loop of an agent: a turn of the model, its calls, and again, until it answers, gives up or is stopped. */
export async function runAgent(deps: RunDeps, run: AgentRun): Promise<RunEnd> {
  let guards = unguarded
  const tools = offers(run)
  for (let step = 0; step < run.maxIters; step++) {
    run.signal.throwIfAborted()
    for (const text of deps.takeMessages()) run.messages.push({ role: 'user', text })
    await deps.onStatus(statusOf.loading(run.models[0].id))
    const { turn } = await askModel(deps, {
      root: run.root,
      models: run.models,
      request: { messages: run.messages, tools },
      signal: run.signal,
      onPiece: deps.onPiece,
    })
    run.messages.push({ role: 'assistant', parts: turn.parts })
    const calls = turn.parts.filter((part) => part.kind === 'call')
    if (turn.finish === 'refusal') return { status: 'failed', reason: 'the model refused to go on' }
    if (calls.length === 0 && turn.finish !== 'length') {
      // What was said meanwhile is answered too, and not left for a run that may never come.
      const late = deps.takeMessages()
      if (late.length === 0) return { status: 'completed', text: wordsOf(turn) }
      for (const text of late) run.messages.push({ role: 'user', text })
      continue
    }
    const done = await runCalls(deps, run, calls)
    if (calls.length > 0) run.messages.push({ role: 'tool', answers: done.map(({ answer }) => answer) })
    else
      run.messages.push({ role: 'user', text: 'Your answer was cut off at its longest. Go on from there.' })
    const seen = guardTurn(guards, {
      text: wordsOf(turn),
      calls: done.map((one, i) => seenCall(calls[i], one)),
    })
    guards = seen.state
    if (seen.advice.stop !== undefined) return { status: 'failed', reason: seen.advice.stop }
    if (seen.advice.nudge !== undefined) run.messages.push({ role: 'user', text: seen.advice.nudge })
  }
  return { status: 'failed', reason: `it was not done after ${run.maxIters} turns (max_iters)` }
}

/** In chat one call is run and the others are answered; on its own an agent has all of them run, in order. */
async function runCalls(deps: RunDeps, run: AgentRun, calls: readonly ModelCall[]): Promise<DoneCall[]> {
  const done: DoneCall[] = []
  for (const [i, call] of calls.entries()) {
    if (run.mode === 'chat' && i > 0) done.push(oneAtATime(call))
    else done.push(await runCall(deps, run, call))
  }
  return done
}

const oneAtATime = ({ callId, tool }: ModelCall): DoneCall => ({
  answer: { callId, tool, text: 'One tool per turn: this call was not run. Make it again.', isError: true },
  isMalformed: false,
  isEmptySearch: false,
  changed: 0,
})

const seenCall = (call: ModelCall | undefined, done: DoneCall): SeenCall => ({
  tool: done.answer.tool,
  input: JSON.stringify(call?.input) ?? call?.malformed ?? '',
  isMalformed: done.isMalformed,
  isEmptySearch: done.isEmptySearch,
})

/** Only what the agent may use is offered; the gate does not rely on it. */
function offers({ agent, tools }: AgentRun): ToolOffer[] {
  const isListed = ({ name }: Tool) => agent.tools.includes('*') || agent.tools.includes(name)
  return [...tools.values()].filter(isListed).map(({ name, description, input }) => ({
    name,
    description,
    schema: z.toJSONSchema(input, { target: 'draft-7' }) as Record<string, unknown>,
  }))
}

const wordsOf = ({ parts }: ModelTurn): string =>
  parts
    .filter((part) => part.kind === 'text')
    .map((part) => part.text)
    .join('')
