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
import { noRounds, type ReviewRounds, roundsAfter } from '../../core/collaboration/review-rounds.ts'
import {
  callOff,
  callOffAll,
  type RefusedMessage,
  sendMessage,
} from '../../core/collaboration/send-message.ts'
import { lineOf } from '../../core/delegation/delegation-facts.ts'
import type { StepOptions, Steps } from '../../ports/durable.ts'
import type { ReadFacts } from '../../ports/facts.ts'
import type { Engine } from '../engine.ts'
import { draftOf, type Root } from '../sessions/drafts.ts'

type Parts = { readonly engine: Pick<Engine, 'perform'>; readonly events: ReadFacts }

/** Whose messages they are, and what those are numbered under. */
type Place = { readonly id: string; readonly root: () => Root }

/** What was said and where the rounds stand, as whoever speaks finds it. */
export type Said = { readonly log: MessageLog; readonly rounds: ReviewRounds }

/** What is said and written at once, in this order. */
export type Spoken<T> = {
  readonly facts?: readonly Draft[]
  readonly words?: OutgoingMessage | undefined
  /** Work that is called off instead, where somebody still has it. */
  readonly callOff?: { readonly taskId: string; readonly reason: string } | undefined
  readonly after?: (said: Said) => readonly Draft[]
  readonly value: T
}

/** The messages and rounds of one session: one word at a time, so that their numbers have no gap whoever speaks. */
export class Conversation {
  readonly #parts: Parts
  #talk: MessageLog
  #rounds = noRounds
  readonly #turns = new Turns<'word'>()

  private constructor(parts: Parts, talk: MessageLog) {
    this.#parts = parts
    this.#talk = talk
  }

  /** Begins it, or goes on from what was said before; where nobody coordinates, each may give work. */
  static async open(
    parts: Parts,
    place: Place,
    who: { readonly coordinators?: readonly Agent[]; readonly others: readonly Agent[] } = { others: [] },
  ): Promise<Conversation> {
    const conversation = new Conversation(parts, newMessageLog(place.id, who))
    for await (const event of parts.events(place.root().sessionId, [
      'agent.message.created',
      'loop.round.started',
      'loop.round.completed',
    ]))
      conversation.#hear(event)
    return conversation
  }

  join(agent: Agent): void {
    this.#talk = withAgent(this.#talk, agent)
  }

  /** Says something once, together with facts that belong to it; what breaks the protocol is recorded, and refused. */
  async say(
    steps: Steps,
    name: string,
    { utterance, facts = [] }: { utterance: OutgoingMessage; facts?: readonly Draft[] },
  ): Promise<string> {
    const { messageId } = await this.record(steps, { name: `say:${name}` }, () => ({
      facts,
      words: utterance,
      value: null,
    }))
    return messageId ?? ''
  }

  /** The same for what is made of all that was said before; it is kept, and not made again when the work is resumed. */
  async record<T>(
    steps: Steps,
    { name, ...options }: { readonly name: string } & StepOptions,
    make: (said: Said) => Spoken<T>,
  ): Promise<{ readonly value: T; readonly messageId?: string }> {
    const done = await this.#turns.take('word', () =>
      steps.step(
        name,
        async ({ tell }) => {
          const made = make({ log: this.#talk, rounds: this.#rounds })
          const spoken = this.#speak(made)
          if ('problems' in spoken) {
            tell(...undelivered(steps, name, spoken))
            return { problems: spoken.problems }
          }
          const said = spoken.messages.map((message) => draftIn(steps.root(), message))
          const begun = [...(made.facts ?? []), ...said]
          const rounds = begun.reduce(roundsAfter, this.#rounds)
          const after = made.after?.({ log: spoken.talk, rounds }) ?? []
          tell(...begun, ...after)
          // The step is written before anybody else may speak.
          this.#talk = spoken.talk
          this.#rounds = after.reduce(roundsAfter, rounds)
          const [first] = spoken.messages
          return { value: made.value, ...(first && { messageId: first.messageId }) }
        },
        options,
      ),
    )
    if ('value' in done) return done
    throw new AppError('invalid', `a message breaks the protocol: ${done.problems.join('; ')}`)
  }

  #speak<T>({ words, callOff: off }: Spoken<T>) {
    const talk = this.#talk
    if (off) return callOff(talk, off.taskId, off.reason)
    if (!words) return { talk, messages: [] }
    const sent = sendMessage(talk, words)
    return 'problems' in sent ? sent : { talk: sent.talk, messages: [sent.message] }
  }

  /** Calls a task or a review off for whoever still has it; a task that nobody has needs no word. */
  async callOff(steps: Steps, name: string, off: { taskId: string; reason: string }): Promise<void> {
    await this.record(steps, { name: `say:${name}` }, () => ({ callOff: off, value: null }))
  }

  /** Calls off one task or all that is open, in words that are written together with the end that is the reason. */
  callOffNow<T>(
    root: Root,
    { reason, taskId }: { readonly reason: string; readonly taskId?: string },
    write: (words: readonly Draft[]) => Promise<T>,
  ): Promise<T> {
    return this.silently(async () => {
      const why = lineOf(reason)
      const { messages, talk } =
        taskId === undefined ? callOffAll(this.#talk, why) : callOff(this.#talk, taskId, why)
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
  mention(steps: Steps, utterance: OutgoingMessage): Promise<string> {
    return this.#turns.take('word', async () => {
      // Nobody has the last word after that of a cancel.
      steps.signal.throwIfAborted()
      const { message, talk } = this.#spoken(utterance)
      await this.#parts.engine.perform([draftIn(steps.root(), message)])
      this.#talk = talk
      return message.messageId
    })
  }

  #spoken(utterance: OutgoingMessage): { readonly message: MessagePayload; readonly talk: MessageLog } {
    const said = sendMessage(this.#talk, utterance)
    if ('problems' in said) throw new Error(`a message breaks the protocol: ${said.problems.join('; ')}`)
    return said
  }

  #hear(event: AgentEvent): void {
    this.#rounds = roundsAfter(this.#rounds, event)
    if (event.type !== 'agent.message.created' || event.payload.messageType === undefined) return
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

const draftIn = (root: Root, message: MessagePayload): Draft =>
  draftOf({ ...root, actor: message.from.agentId }, 'agent.message.created', message)

/** The same words would be refused again: what is tried again is the work that they are about. */
function undelivered(steps: Steps, name: string, { problems, errorType }: RefusedMessage): Draft[] {
  const root = steps.root()
  const messageId = derivedUuid(`${steps.id}\nrefused\n${name}`)
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
