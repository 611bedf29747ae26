import { once } from 'node:events'
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { type PipedProgram, startPiped } from '../system/piped-program.ts'

/** A transport, and what its process said besides. */
export type StdioTransport = Transport & { lastWords(): string }

const mostMessageBytes = 10 << 20

/** Speaks with a program by its pipes, and ends it with everything that it started. */
export function stdioTransport(starting: Parameters<typeof startPiped>[0]): StdioTransport {
  const buffer = new ReadBuffer({ maxBufferSize: mostMessageBytes })
  let program: PipedProgram | undefined

  const read = (chunk: Buffer): void => {
    try {
      buffer.append(chunk)
    } catch (error) {
      transport.onerror?.(error as Error)
      void transport.close()
      return
    }
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        transport.onmessage?.(message)
      } catch (error) {
        // A line that is no message is passed over: many servers print something when they start.
        transport.onerror?.(error as Error)
      }
    }
  }

  const transport: StdioTransport = {
    async start() {
      program = await startPiped(starting)
      program.output.on('data', read)
      void program.closed.then(() => transport.onclose?.())
    },
    async send(message: JSONRPCMessage) {
      if (!program?.input.writable) throw new Error('the server has ended')
      if (!program.input.write(serializeMessage(message))) await once(program.input, 'drain')
    },
    async close() {
      await program?.end()
      buffer.clear()
    },
    lastWords: () => program?.lastWords() ?? '',
  }
  return transport
}
