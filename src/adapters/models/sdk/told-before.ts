import type { ModelProtocol } from '../../../contract/config/model-settings.ts'
import type { ModelMessage } from '../../../ports/model.ts'

/** Where a protocol puts the conversation, and whether what an agent is told first is a part of it. */
const places: Readonly<Record<ModelProtocol, { readonly field: string; readonly holdsSystem: boolean }>> = {
  anthropic: { field: 'messages', holdsSystem: false },
  openai: { field: 'input', holdsSystem: true },
  google: { field: 'contents', holdsSystem: false },
  compatible: { field: 'messages', holdsSystem: true },
}

/** What a provider was told of a conversation, and the same as it was sent: JSON without the brackets. */
type Told = { readonly messages: readonly ModelMessage[]; readonly sent: readonly Uint8Array[] }

/** A request of which only what is new is put into words. */
export type Retold = {
  readonly messages: readonly ModelMessage[]
  readonly fetch: typeof fetch
}

/**
 * A conversation is told whole in each turn, and most of it was told before: those bytes are kept, one
 * conversation at a time, and sent again before the new ones, so that a turn costs the same however long it is.
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
        const whole = joined(init?.body, this.#place.field, before?.sent ?? [])
        if (!whole) return this.#fetch(url, init)
        if (first) this.#told.set(first, { messages: [...messages], sent: whole.sent })
        return this.#fetch(url, streamed(init, whole.body))
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

function joined(body: unknown, field: string, before: readonly Uint8Array[]) {
  if (typeof body !== 'string') return undefined
  const { [field]: said, ...rest } = JSON.parse(body) as Record<string, unknown>
  if (!Array.isArray(said)) return undefined
  const news = JSON.stringify(said).slice(1, -1)
  const sent = added(before, Buffer.from(before.length === 0 ? news : `,${news}`))
  const head = Buffer.from(`${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(field)}:[`)
  return { sent, body: [head, ...sent, end] }
}

const end = Buffer.from(']}')

/** Each piece is longer than all after it, so there are few to send and few bytes are ever copied. */
function added(pieces: readonly Uint8Array[], piece: Uint8Array): Uint8Array[] {
  const last = pieces.at(-1)
  if (!last || last.length > piece.length) return [...pieces, piece]
  return added(pieces.slice(0, -1), Buffer.concat([last, piece]))
}

/** A body of pieces: as one text or one buffer, a copy of the whole conversation would live as long as the answer. */
function streamed(init: RequestInit | undefined, pieces: readonly Uint8Array[]): RequestInit {
  const headers = new Headers(init?.headers)
  headers.set('content-length', String(pieces.reduce((sum, { length }) => sum + length, 0)))
  // With credentials of its own a fetch would want to send the body again after a 401, and fail because it cannot.
  return { ...init, headers, body: ReadableStream.from(pieces), duplex: 'half', credentials: 'omit' }
}
