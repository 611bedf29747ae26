import type { AgentEvent } from '../contract/event.ts'
import type { RunId, SessionId } from '../contract/ids.ts'
import type { ModelMessage, ToolAnswer } from '../ports/model.ts'
import type { Vault } from '../ports/storage.ts'
import type { Compacted } from './compact.ts'
import type { KeptAnswer } from './run-call.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** A conversation as the vault has it, with an answer to every call, so that a provider takes it. */
export type History = {
  readonly messages: ModelMessage[]
  /** How many of them the vault has; those after them were never given to a model that answered. */
  readonly kept: number
  /** Its last word on it was that it only plans. */
  readonly isPlanning: boolean
  /** Runs of which something is no longer in the vault. */
  readonly lost: ReadonlySet<RunId>
}

/** Which conversation, of a main agent or of one run, and as of which event. */
type Wanted = { readonly sessionId: SessionId; readonly before?: number } & (
  | { readonly agent: string; readonly runId?: never }
  | { readonly runId: RunId; readonly agent?: never }
)

const types = [
  'message.queued',
  'message.accepted',
  'llm.request.completed',
  'context.compacted',
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.denied',
] as const satisfies readonly AgentEvent['type'][]

const cutOff =
  'It was cut off; whether it took effect is not known. Check the current state before you do it again.'

/** Reads a conversation of a session again; what the vault has lost is told to the model. */
export async function loadHistory(
  parts: Pick<RuntimeParts, 'events' | 'vault'>,
  { sessionId, agent, runId, before = Infinity }: Wanted,
): Promise<History> {
  const queued = new Map<string, string | undefined>()
  const lost = new Set<RunId>()
  let messages: ModelMessage[] = []
  let since: Since = { answers: new Map(), said: [] }
  let isPlanning = false
  for await (const event of parts.events(sessionId, types)) {
    if (event.seq >= before) break
    if (event.type === 'message.queued') queued.set(event.payload.messageId, event.payload.vault)
    const isMeant =
      runId === undefined ? event.actor === agent && event.parentRunId === undefined : event.runId === runId
    if (!isMeant) continue
    if (event.type === 'message.accepted') {
      const { messageId } = event.payload
      since.said.push({ name: queued.get(messageId), runId: event.runId })
    } else if (event.type === 'llm.request.completed' || event.type === 'context.compacted') {
      // Turns that were asked for besides the conversation, as for a summary, are not kept.
      if (event.payload.vault === undefined) continue
      const entry = await kept(parts.vault, event.payload.vault)
      if (!entry) {
        lost.add(event.runId)
        messages = []
      } else if (event.type === 'llm.request.completed') messages.push(...(entry as ModelMessage[]))
      else {
        lost.clear()
        messages = [...(entry as Compacted).messages]
      }
      since = { answers: new Map(), said: [] }
    } else if (isCallEnd(event)) {
      since.answers.set(event.payload.callId, event)
      if (event.type === 'tool.call.completed') isPlanning = planningAfter(event.payload.tool, isPlanning)
    }
  }
  if (lost.size > 0) messages = whole(messages)
  const keptUntil = messages.length
  messages.push(...(await unkept(parts.vault, messages.at(-1), { since, lost })))
  return { messages, kept: keptUntil, isPlanning, lost }
}

const isCallEnd = (event: AgentEvent): event is CallEnd => /^tool\.call\.(?!started)/.test(event.type)

type CallEnd = Extract<AgentEvent, { type: 'tool.call.completed' | 'tool.call.failed' | 'tool.call.denied' }>

/** What came after the last turn that is kept. */
type Since = {
  readonly answers: Map<string, CallEnd>
  readonly said: { readonly name: string | undefined; readonly runId: RunId }[]
}

const planningAfter = (tool: string, before: boolean): boolean =>
  tool === 'EnterPlanMode' ? true : tool === 'ExitPlanMode' ? false : before

/** An entry, or nothing when it is gone or cannot be opened any more. */
export async function kept(vault: Vault, name: string | undefined): Promise<unknown> {
  const bytes = name === undefined ? undefined : await vault.get(name).catch(() => undefined)
  return bytes && JSON.parse(new TextDecoder().decode(bytes))
}

/** What is left where something was lost: no answers without their calls. */
function whole(messages: readonly ModelMessage[]): ModelMessage[] {
  const first = messages.findIndex(({ role }) => role === 'user')
  return [
    { role: 'user', text: 'Earlier parts of this conversation are no longer kept.' },
    ...(first < 0 ? [] : messages.slice(first)),
  ]
}

/** The answers to the calls of the last turn, and what was said after it. */
async function unkept(
  vault: Vault,
  last: ModelMessage | undefined,
  { since, lost }: { readonly since: Since; readonly lost: Set<RunId> },
): Promise<ModelMessage[]> {
  const calls = last?.role === 'assistant' ? last.parts.filter((part) => part.kind === 'call') : []
  const answers: ToolAnswer[] = []
  for (const { callId, tool } of calls) {
    const end = since.answers.get(callId)
    const said = end && (await answerOf(vault, end))
    answers.push(said ?? { callId, tool, text: cutOff, isError: true })
  }
  const messages: ModelMessage[] = answers.length > 0 ? [{ role: 'tool', answers }] : []
  for (const { name, runId } of since.said) {
    const bytes = name === undefined ? undefined : await vault.get(name).catch(() => undefined)
    if (bytes) messages.push({ role: 'user', text: new TextDecoder().decode(bytes) })
    else lost.add(runId)
  }
  return messages
}

async function answerOf(vault: Vault, { type, payload }: CallEnd): Promise<ToolAnswer | undefined> {
  const { callId, tool } = payload
  if (type === 'tool.call.denied') return { callId, tool, text: 'It was denied.', isError: true }
  if (payload.vault === undefined) return undefined
  const answer = (await kept(vault, payload.vault)) as KeptAnswer | undefined
  const { text, isError } = answer ?? { text: 'Its result is no longer kept.', isError: true }
  return { callId, tool, text, isError }
}
