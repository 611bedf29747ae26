import type { MessagePort } from 'node:worker_threads'
import { AppError } from '../contract/errors.ts'
import type { CallMessage, ReplyMessage } from './worker-calls.ts'

/** The worker's side of a call: one method at a time, each answered once. */
export function serveCalls(
  port: MessagePort,
  methods: Readonly<Record<string, (...args: never[]) => unknown>>,
): void {
  port.on('message', (message: CallMessage) => {
    let reply: ReplyMessage
    try {
      const method = methods[message.method]
      if (!method) throw new Error(`no method ${message.method}`)
      reply = { id: message.id, value: method(...(message.args as never[])) }
    } catch (error) {
      const { message: text } = error as Error
      reply = {
        id: message.id,
        error: { message: text, ...(error instanceof AppError && { code: error.code }) },
      }
    }
    port.postMessage(reply)
  })
}
