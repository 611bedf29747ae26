import { derivedSpan, derivedUuid } from '../../contract/derived-ids.ts'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent, Draft } from '../../contract/event.ts'
import { Turns } from '../../contract/turns.ts'
import type { Agent } from '../../contract/values.ts'
import {
  type MessageLog,
  type MessagePayload,
  newMessageLog,
  type OutgoingMessage,
  withAgent,
} from '../../core/collaboration/message-protocol.ts'
import {
  callOff,
  callOffAll,
  type RefusedMessage,
  sendMessage,
} from '../../core/collaboration/send-message.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { CrewParts } from './crew-parts.ts'

/** The messages of one collaboration: one at a time, so that their numbers have no gap whoever speaks. */
export class Conversation {
  readonly #parts: Pick<CrewParts, 'engine' | 'events'>
  #talk: MessageLog
  readonly #turns = new Turns<'word'>()

  private constructor(parts: Pick<CrewParts, 'engine' | 'events'>, talk: MessageLog) {
    this.#parts = parts
    this.#talk = talk
  }

  /** Begins it, or goes on from what was said before a crash. */
  static async open(
    parts: Pick<CrewParts, 'engine' | 'events'>,
    flow: Pick<Flow, 'id' | 'root'>,
    { orchestrator, others }: { readonly orchestrator: Agent; readonly others: readonly Agent[] },
  ): Promise<Conversation> {
    const conversation = new Conversation(
      parts,
      newMessageLog(flow.id, { coordinators: [orchestrator], others }),
    )
    for await (const event of parts.events(flow.root().sessionId, ['agent.message.created']))
      if (event.type === 'agent.message.created' && event.payload.messageType !== undefined)
        conversation.#hear(event)
    return conversation
  }

  join(agent: Agent): void {
    this.#talk = withAgent(this.#talk, agent)
  }

  /** Says something once, together with facts that belong to it; what breaks the protocol is recorded, and refused. */
  async say(
    flow: Flow,
    name: string,
    { utterance, facts = [] }: { utterance: OutgoingMessage; facts?: readonly Draft[] },
  ): Promise<string> {
    const said = await this.#turns.take('word', () =>
      flow.step(`say:${name}`, async ({ tell }) => {
        const spoken = sendMessage(this.#talk, utterance)
        if ('problems' in spoken) {
          tell(...undelivered(flow, name, spoken))
          return { problems: spoken.problems }
        }
        const { message, talk } = spoken
        tell(...facts, draftIn(flow.root(), message))
        // The step is written before anybody else may speak.
        this.#talk = talk
        return message.messageId
      }),
    )
    if (typeof said === 'string') return said
    throw new AppError('invalid', `a message breaks the protocol: ${said.problems.join('; ')}`)
  }

  /** Calls a task or a review off for whoever still has it; a task that nobody has needs no word. */
  callOff(flow: Flow, name: string, { taskId, reason }: { taskId: string; reason: string }): Promise<void> {
    return this.#turns.take('word', () =>
      flow.step(`say:${name}`, async ({ tell }) => {
        const { messages, talk } = callOff(this.#talk, taskId, reason)
        tell(...messages.map((message) => draftIn(flow.root(), message)))
        this.#talk = talk
      }),
    )
  }

  /** Calls off all that is open, in words that are written together with the end that is the reason. */
  callOffAll<T>(root: FlowRoot, reason: string, write: (words: readonly Draft[]) => Promise<T>): Promise<T> {
    return this.silently(async () => {
      const { messages, talk } = callOffAll(this.#talk, reason.replaceAll(/\s+/g, ' ').slice(0, 1000))
      const written = await write(messages.map((message) => draftIn(root, message)))
      this.#talk = talk
      return written
    })
  }

  /** Does something while nobody speaks: what was being said is written by then. */
  silently<T>(act: () => Promise<T>): Promise<T> {
    return this.#turns.take('word', act)
  }

  /** Says something that is only true now; it is not said again when the workflow is run again. */
  mention(flow: Flow, utterance: OutgoingMessage): Promise<string> {
    return this.#turns.take('word', async () => {
      // Nobody has the last word after that of a cancel.
      flow.signal.throwIfAborted()
      const { message, talk } = this.#spoken(utterance)
      await this.#parts.engine.perform([draftIn(flow.root(), message)])
      this.#talk = talk
      return message.messageId
    })
  }

  #spoken(utterance: OutgoingMessage): { readonly message: MessagePayload; readonly talk: MessageLog } {
    const said = sendMessage(this.#talk, utterance)
    if ('problems' in said) throw new Error(`a message breaks the protocol: ${said.problems.join('; ')}`)
    return said
  }

  #hear(event: Extract<AgentEvent, { type: 'agent.message.created' }>): void {
    const { from, to, messageType, payload, replyTo } = event.payload
    this.join(from)
    this.join(to)
    const utterance = {
      from: from.agentId,
      to: to.agentId,
      type: messageType,
      payload,
      ...(replyTo && { replyTo }),
    }
    this.#talk = this.#spoken(utterance as OutgoingMessage).talk
  }
}

const draftIn = (root: FlowRoot, message: MessagePayload): Draft =>
  draftOf({ ...root, actor: message.from.agentId }, 'agent.message.created', message)

/** The same words would be refused again: what is tried again is the work that they are about. */
function undelivered(flow: Flow, name: string, { problems, errorType }: RefusedMessage): Draft[] {
  const root = flow.root()
  const messageId = derivedUuid(`${flow.id}\nrefused\n${name}`)
  const place = { ...root, spanId: derivedSpan(messageId), parentSpanId: root.spanId }
  return [
    draftOf(place, 'message.queued', { messageId }),
    draftOf(place, 'message.failed', {
      messageId,
      errorType,
      reason: problems.join('; '),
      retryCount: 0,
      maxRetries: 0,
    }),
  ]
}
