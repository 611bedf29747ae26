import * as z from 'zod'
import { statusOf } from '../contract/status-phrases.ts'
import { guardAnswer, guardTurn, type SeenCall, unguarded } from '../core/agent-loop/loop-guards.ts'
import { type ModelCall, ModelFailure, type ToolOffer } from '../ports/model.ts'
import type { Tool } from '../ports/tools.ts'
import { type AgentRun, type RunDeps, type RunEnd, wordsOf } from './agent-run.ts'
import { type Asked, askModel } from './ask-model.ts'
import { compact, contextTokens } from './compact.ts'
import { type DoneCall, runCall } from './run-call.ts'

/** Ends the reason of a run that its limit of turns stopped; a replay knows the limit by it. */
export const turnLimit = '(max_iters)'

/** The loop of an agent: a turn of the model, its calls, and again, until it answers, gives up or is stopped. */
export async function runAgent(deps: RunDeps, run: AgentRun): Promise<RunEnd> {
  let guards = unguarded
  let kept = run.kept ?? run.messages.filter(({ role }) => role === 'system').length
  const tools = offers(run)
  const say = (text: string) => void run.messages.push({ role: 'user', text })
  // Cut off between its last words and its end, it has answered, and would otherwise be asked the same again.
  const answer = answerBefore(run)
  if (answer !== undefined) {
    const late = await deps.takeMessages()
    const wrong = deps.refuse?.(answer)
    if (late.length === 0 && wrong === undefined) return { status: 'completed', text: answer }
    for (const text of [...(wrong === undefined ? [] : [wrong]), ...late]) say(text)
  }
  for (let step = run.turns ?? 0; step < run.maxIters; step++) {
    run.signal.throwIfAborted()
    for (const text of await deps.takeMessages()) say(text)
    const before = await deps.spent()
    if (before !== undefined) return { status: 'failed', reason: before, isSpent: true }
    deps.onStatus(statusOf.loading(run.models[0].id))
    const { turn, model, isShort } = await ask(deps, run, { tools, kept })
    deps.onTurn()
    deps.onUsed({ turn, model })
    run.messages.push({ role: 'assistant', parts: turn.parts })
    kept = run.messages.length
    const calls = turn.parts.filter((part) => part.kind === 'call')
    if (turn.finish === 'refusal') return { status: 'failed', reason: 'the model refused to continue' }
    if (calls.length === 0 && turn.finish !== 'length') {
      // What was said meanwhile is answered too, and not left for a run that may never come.
      const late = await deps.takeMessages()
      for (const text of late) say(text)
      if (late.length > 0) continue
      const text = wordsOf(turn)
      const seen = guardAnswer(guards, text)
      guards = seen.state
      if (seen.advice.stop !== undefined) return { status: 'failed', reason: seen.advice.stop }
      const wrong = seen.advice.nudge ?? deps.refuse?.(text)
      if (wrong === undefined) return { status: 'completed', text }
      say(wrong)
      continue
    }
    const spent = await deps.spent()
    if (spent !== undefined) return { status: 'failed', reason: spent, isSpent: true }
    const done = await runCalls(deps, run, { calls, why: wordsOf(turn) })
    if (calls.length > 0) run.messages.push({ role: 'tool', answers: done.map(({ answer }) => answer) })
    else say('Your answer was cut off at the maximum length. Continue from there.')
    const over = done.find(({ ends }) => ends !== undefined)?.ends
    if (over) return { status: 'completed', ...over }
    const seen = guardTurn(guards, {
      text: wordsOf(turn),
      calls: done.map((one, i) => seenCall(calls[i], one)),
    })
    guards = seen.state
    if (seen.advice.stop !== undefined) return { status: 'failed', reason: seen.advice.stop }
    if (seen.advice.nudge !== undefined) say(seen.advice.nudge)
    const tokens = contextTokens(turn)
    if (!isShort && tokens >= deps.compactAt(model)) {
      await compact(deps, run, { tokens, trigger: 'auto' })
      kept = run.messages.length
    }
  }
  return { status: 'failed', reason: `it was not done after ${run.maxIters} turns ${turnLimit}` }
}

/** What a run that was cut off had said in the end. */
function answerBefore({ messages, turns = 0 }: AgentRun): string | undefined {
  const last = messages.at(-1)
  const isAnswer = last?.role === 'assistant' && last.parts.every(({ kind }) => kind !== 'call')
  return turns > 0 && isAnswer ? wordsOf(last) || undefined : undefined
}

type Step = { readonly tools: readonly ToolOffer[]; readonly kept: number }

/** A turn; one that did not fit is asked for once more with a shorter conversation. */
async function ask(
  deps: RunDeps,
  run: AgentRun,
  { tools, kept }: Step,
): Promise<Asked & { readonly isShort: boolean }> {
  const once = (from: number) =>
    askModel(deps, {
      root: run.root,
      models: run.models,
      request: { messages: run.messages, tools },
      gained: run.messages.slice(from),
      signal: run.signal,
      onPiece: deps.onPiece,
    })
  try {
    return { ...(await once(kept)), isShort: false }
  } catch (error) {
    if (!(error instanceof ModelFailure) || error.kind !== 'context_length') throw error
    await compact(deps, run, { tokens: deps.compactAt(run.models[0]), trigger: 'limit' })
    return { ...(await once(run.messages.length)), isShort: true }
  }
}

type Wanted = { readonly calls: readonly ModelCall[]; readonly why: string }

/** In chat one call is run and the others are answered; on its own an agent has all of them run, in order. */
async function runCalls(deps: RunDeps, run: AgentRun, { calls, why }: Wanted): Promise<DoneCall[]> {
  const [first, ...others] = calls
  if (!first) return []
  if (run.mode === 'chat') return [await runCall(deps, run, { ...first, why }), ...others.map(oneAtATime)]
  const done: DoneCall[] = []
  for (const group of sideBySide(run, calls))
    done.push(...(await all(group.map((call) => runCall(deps, run, { ...call, why })))))
  return done
}

/** Nothing is left running when one of them fails. */
async function all<T>(acts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(acts)
  return Promise.all(acts)
}

/** Calls in groups that may run at the same time; whatever changes something runs alone. */
function sideBySide(run: AgentRun, calls: readonly ModelCall[]): ModelCall[][] {
  const groups: ModelCall[][] = []
  let isOpen = false
  for (const call of calls) {
    const isParallel = run.tools.get(call.tool)?.isParallel ?? false
    if (isParallel && isOpen) groups.at(-1)?.push(call)
    else groups.push([call])
    isOpen = isParallel
  }
  return groups
}

/** Answers a call that the chat mode leaves out; a replay knows the mode by it. */
export const notRun = 'One tool per turn: this call was not run. Make it again.'

const oneAtATime = ({ callId, tool }: ModelCall): DoneCall => ({
  answer: { callId, tool, text: notRun, isError: true },
  isMalformed: false,
  isEmptySearch: false,
  isChange: false,
})

const seenCall = (call: ModelCall | undefined, done: DoneCall): SeenCall => ({
  tool: done.answer.tool,
  input: JSON.stringify(call?.input) ?? call?.malformed ?? '',
  isMalformed: done.isMalformed,
  isEmptySearch: done.isEmptySearch,
  isChange: done.isChange,
})

/** Only what the agent may use is offered; the gate does not rely on it. */
function offers({ agent, tools }: AgentRun): ToolOffer[] {
  const isListed = ({ name }: Tool) => agent.tools.includes('*') || agent.tools.includes(name)
  return [...tools.values()].filter(isListed).map(({ name, description, input, schema }) => ({
    name,
    description,
    schema: schema ?? schemaOf(input),
  }))
}

/** What a tool takes is the same in every run, and dear to put into words. */
const schemas = new WeakMap<Tool['input'], Record<string, unknown>>()

function schemaOf(input: Tool['input']): Record<string, unknown> {
  const known =
    schemas.get(input) ?? (z.toJSONSchema(input, { target: 'draft-7' }) as Record<string, unknown>)
  schemas.set(input, known)
  return known
}
