import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { ModelMessage, ToolAnswer } from '../ports/model.ts'
import type { RuntimeParts } from './parts.ts'

/** A conversation as the vault has it. */
export type History = {
  readonly messages: readonly ModelMessage[]
  /** Answers of calls after the last turn that is kept: a run that was cut off goes on with them. */
  readonly answers: readonly ToolAnswer[]
}

const types = [
  'llm.request.completed',
  'context.compacted',
  'tool.call.completed',
  'tool.call.failed',
] as const satisfies readonly AgentEvent['type'][]

/** Reads the conversation of one main agent of a session again; what the vault has lost is told to the model. */
export async function loadHistory(
  { events, vault }: Pick<RuntimeParts, 'events' | 'vault'>,
  sessionId: SessionId,
  agent: string,
): Promise<History> {
  let messages: ModelMessage[] = []
  let answers: ToolAnswer[] = []
  let isLost = false
  const kept = async (name: string | undefined): Promise<unknown> => {
    const bytes = name === undefined ? undefined : await vault.get(name)
    if (!bytes) isLost = true
    return bytes && JSON.parse(new TextDecoder().decode(bytes))
  }
  for await (const event of events(sessionId, types)) {
    if (event.actor !== agent || event.parentRunId !== undefined) continue
    if (event.type === 'llm.request.completed') {
      // Turns that were asked for besides the conversation, as for a summary, are not kept.
      if (event.payload.vault === undefined) continue
      messages.push(...(((await kept(event.payload.vault)) as ModelMessage[] | undefined) ?? []))
      answers = []
    } else if (event.type === 'context.compacted') {
      messages = ((await kept(event.payload.vault)) as ModelMessage[] | undefined) ?? []
      answers = []
    } else if (event.type === 'tool.call.completed' || event.type === 'tool.call.failed') {
      const { callId, tool, vault: name } = event.payload
      if (name === undefined) continue
      const answer = (await kept(name)) as ToolAnswer | undefined
      answers.push(answer ?? { callId, tool, text: 'its result is no longer kept', isError: true })
    }
  }
  return { messages: isLost ? whole(messages) : messages, answers }
}

/** Only turns whose calls have their answers, so that a provider takes what is left. */
function whole(messages: readonly ModelMessage[]): ModelMessage[] {
  const first = messages.findIndex(({ role }) => role === 'user')
  return [
    { role: 'user', text: 'Earlier parts of this conversation are no longer kept.' },
    ...(first < 0 ? [] : messages.slice(first)),
  ]
}

/** A conversation that a provider takes: every call of its last turn has an answer. */
export function answered({ messages, answers }: History, missing: string): ModelMessage[] {
  const last = messages.at(-1)
  const calls = last?.role === 'assistant' ? last.parts.filter((part) => part.kind === 'call') : []
  if (calls.length === 0) return [...messages]
  return [
    ...messages,
    {
      role: 'tool',
      answers: calls.map(
        ({ callId, tool }) =>
          answers.find((answer) => answer.callId === callId) ?? {
            callId,
            tool,
            text: missing,
            isError: true,
          },
      ),
    },
  ]
}
