import { statusOf } from '../contract/status-phrases.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { ModelMessage, ModelTurn } from '../ports/model.ts'
import { type AgentRun, type RunDeps, wordsOf } from './agent-run.ts'
import { askModel } from './ask-model.ts'

const request =
  'Write down what is needed to continue this work without the conversation above: the task in full, what was decided and why, what was done to which files, what failed and how, what is left, and exact names, paths and commands. Nothing else.'

/** A shorter conversation as it is kept, with what the model said of the longer one. */
export type Compacted = { readonly messages: readonly ModelMessage[]; readonly said: ModelTurn['parts'] }

/** Replaces a conversation that grew too long by its own summary; the task itself is kept word for word. */
export async function compact(
  deps: RunDeps,
  run: AgentRun,
  { tokens, trigger }: { readonly tokens: number; readonly trigger: 'auto' | 'limit' },
): Promise<void> {
  deps.onStatus(statusOf.compacting())
  const asked = await askModel(deps, {
    root: run.root,
    models: run.models,
    request: { messages: [...shortened(run.messages, trigger), { role: 'user', text: request }], tools: [] },
    signal: run.signal,
    onPiece: () => {},
  })
  deps.onUsed(asked)
  const summary = wordsOf(asked.turn)
  const task = run.messages.find((message) => message.role === 'user')
  const system = run.messages.filter((message) => message.role === 'system')
  const rest: ModelMessage[] = [
    {
      role: 'user',
      text: `${task?.text ?? ''}\n\nThe conversation was shortened. What is known so far:\n\n${summary}\n\nContinue.`,
    },
  ]
  run.messages.splice(0, run.messages.length, ...system, ...rest)
  const kept: Compacted = { messages: rest, said: asked.turn.parts }
  const tokensAfter = Math.ceil(JSON.stringify(run.messages).length / charsPerToken)
  deps.record(async () => [
    draftOf(run.root, 'context.compacted', {
      tokensBefore: tokens,
      tokensAfter,
      trigger,
      summary,
      vault: await deps.keep(kept),
    }),
  ])
}

const charsPerToken = 4

/** What did not fit is cut in the middle, where the least is lost. */
function shortened(messages: readonly ModelMessage[], trigger: 'auto' | 'limit'): readonly ModelMessage[] {
  if (trigger === 'auto' || messages.length < 8) return messages
  const head = messages.slice(0, 2)
  const tail = messages.slice(Math.floor(messages.length / 2))
  // Answers without their calls are refused by every provider.
  const first = tail.findIndex((message) => message.role !== 'tool')
  return [
    ...head,
    { role: 'user', text: 'The middle of this conversation is left out.' },
    ...tail.slice(first),
  ]
}

/** How large a conversation was when it was last given to a model, with what came back. */
export const contextTokens = ({ usage }: ModelTurn): number =>
  (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) + (usage.output ?? 0)
