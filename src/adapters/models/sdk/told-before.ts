import type { ModelProtocol } from '../../../contract/config/providers.ts'
import type { ModelMessage } from '../../../ports/model.ts'

/** Where a protocol puts the conversation, and whether what an agent is told first is a part of it. */
const places: Readonly<Record<ModelProtocol, { readonly field: string; readonly holdsSystem: boolean }>> = {
  anthropic: { field: 'messages', holdsSystem: false },
  openai: { field: 'input', holdsSystem: true },
  google: { field: 'contents', holdsSystem: false },
  compatible: { field: 'messages', holdsSystem: true },
}

/** What a provider was told of a conversation, and the same in its own words, as JSON without the brackets. */
type Told = { readonly messages: readonly ModelMessage[]; readonly text: string }

/** A request of which only what is new is put into words. */
export type Retold = {
  readonly messages: readonly ModelMessage[]
  readonly fetch: typeof fetch
}

/**
 * A conversation is told whole in each turn, and most of it was told before: those words are kept, one
 * conversation at a time, and put before the new ones, so that a turn costs the same however long it is.
 */
export class ToldBefore {
  readonly #place: (typeof places)[ModelProtocol]
  readonly #fetch: typeof fetch
  /** By the first message: a conversation keeps it as long as it goes on. */
  readonly #told = new WeakMap<ModelMessage, Told>()

  constructor(protocol: ModelProtocol, fetch: typeof globalThis.fetch) {
    this.#place = places[protocol]
    this.#fetch = fetch
  }

  retell(messages: readonly ModelMessage[]): Retold {
    const [first] = messages
    const before = first && this.#beginningOf(first, messages)
    return {
      messages: before ? this.#restOf(messages, before) : messages,
      fetch: (url, init) => {
        const whole = joined(init?.body, this.#place.field, before?.text)
        if (first && whole) this.#told.set(first, { messages: [...messages], text: whole.text })
        return this.#fetch(url, whole ? { ...init, body: whole.body } : init)
      },
    }
  }

  /** Two messages may become one in the words of a provider, but never one of its own and one to it. */
  #beginningOf(first: ModelMessage, messages: readonly ModelMessage[]): Told | undefined {
    const told = this.#told.get(first)
    if (!told || messages[told.messages.length]?.role !== 'assistant') return undefined
    if (told.messages.at(-1)?.role === 'assistant') return undefined
    return told.messages.every((message, i) => message === messages[i]) ? told : undefined
  }

  #restOf(messages: readonly ModelMessage[], told: Told): ModelMessage[] {
    const rest = messages.slice(told.messages.length)
    if (this.#place.holdsSystem) return rest
    return [...messages.filter(({ role }) => role === 'system'), ...rest]
  }
}

function joined(body: unknown, field: string, before: string | undefined) {
  if (typeof body !== 'string') return undefined
  const { [field]: said, ...rest } = JSON.parse(body) as Record<string, unknown>
  if (!Array.isArray(said)) return undefined
  const news = JSON.stringify(said).slice(1, -1)
  const text = before === undefined ? news : `${before},${news}`
  return { text, body: `${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(field)}:[${text}]}` }
}
