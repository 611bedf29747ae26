import { foreignJson } from '../../contract/formats/foreign-json.ts'
import type { PipedProgram } from '../system/run-program.ts'

/** Requests and notices as a language server takes them. */
export type LspWire = {
  /** Rejected when the server refuses, ends, or the signal aborts. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>
  notify(method: string, params: unknown): void
  /** Whether it can still be spoken with. */
  isOpen(): boolean
}

type Message = {
  readonly id?: number | string
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

type Waiting = { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void }

const mostBytes = 64 << 20
const mostHeaderBytes = 8 << 10

/** JSON-RPC with headers over the pipes of a program. */
export function lspWire(program: PipedProgram, onNotice: (method: string, params: unknown) => void): LspWire {
  const waiting = new Map<number | string, Waiting>()
  let isOpen = true
  let lastId = 0

  const send = (message: object): void => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    if (isOpen) program.input.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  const fail = (why: string): void => {
    isOpen = false
    for (const { reject } of waiting.values()) reject(new Error(why))
    waiting.clear()
  }
  const take = (message: Message): void => {
    const { id, method, params } = message
    if (method === undefined) {
      if (message.error) waiting.get(id ?? '')?.reject(new Error(message.error.message))
      else waiting.get(id ?? '')?.resolve(message.result)
      waiting.delete(id ?? '')
    } else if (id === undefined) onNotice(method, params)
    else send({ id, result: answerTo(method, params) })
  }
  program.output.on(
    'data',
    reader(take, (why) => {
      fail(why)
      void program.end()
    }),
  )
  void program.closed.then(() => {
    const said = program.lastWords()
    fail(`the language server has ended${said === '' ? '' : `; its last output: ${said}`}`)
  })

  return {
    request: (method, params, signal) =>
      new Promise((resolve, reject) => {
        if (!isOpen) return reject(new Error('the language server has ended'))
        const id = (lastId += 1)
        const cancel = () => {
          waiting.delete(id)
          send({ method: '$/cancelRequest', params: { id } })
          reject(signal.reason as Error)
        }
        const over =
          <T>(act: (value: T) => void) =>
          (value: T) => {
            signal.removeEventListener('abort', cancel)
            act(value)
          }
        signal.addEventListener('abort', cancel, { once: true })
        waiting.set(id, { resolve: over(resolve), reject: over(reject) })
        send({ id, method, params })
      }),
    notify: (method, params) => send({ method, params }),
    isOpen: () => isOpen,
  }
}

/** It may ask for settings and to be told of things; there are no settings, and it is told all the same. */
const answerTo = (method: string, params: unknown): unknown =>
  method === 'workspace/configuration'
    ? ((params as { items?: unknown[] }).items ?? []).map(() => null)
    : null

/** Cuts what arrives into messages. What is held is bounded, and each byte is copied at most twice. */
function reader(onMessage: (message: Message) => void, onBroken: (why: string) => void) {
  let held: Buffer[] = []
  let heldBytes = 0
  /** Undefined until the header of the next message is read. */
  let bodyBytes: number | undefined
  let isBroken = false

  const fail = (): undefined => {
    isBroken = true
    onBroken('the language server sent something that is not a message')
    return undefined
  }
  const takeHeader = (all: Buffer): Buffer | undefined => {
    const end = all.indexOf('\r\n\r\n')
    if (end === -1 && all.length <= mostHeaderBytes) return undefined
    const header = all.toString('latin1', 0, Math.max(end, 0))
    const length = Number(/content-length:\s*(\d+)/i.exec(header)?.[1] ?? Number.NaN)
    if (!(length <= mostBytes)) return fail()
    bodyBytes = length
    return all.subarray(end + 4)
  }
  const takeBody = (all: Buffer, length: number): Buffer | undefined => {
    const message = parsed(all.toString('utf8', 0, length))
    if (message === undefined) return fail()
    bodyBytes = undefined
    onMessage(message)
    return all.subarray(length)
  }

  return (chunk: Buffer): void => {
    if (isBroken) return
    held.push(chunk)
    heldBytes += chunk.length
    while (heldBytes >= (bodyBytes ?? 1)) {
      const all = held.length === 1 && held[0] ? held[0] : Buffer.concat(held)
      const rest = bodyBytes === undefined ? takeHeader(all) : takeBody(all, bodyBytes)
      held = isBroken ? [] : [rest ?? all]
      heldBytes = rest?.length ?? all.length
      if (rest === undefined) return
    }
  }
}

function parsed(text: string): Message | undefined {
  const message = foreignJson(text)
  return typeof message === 'object' && message !== null ? message : undefined
}
