import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { environmentNames } from '../../contract/home.ts'
import type { Processes } from '../../ports/processes.ts'

type Starting = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly processes: Processes
}

/** A transport, and what its process said besides. */
export type StdioTransport = Transport & { lastWords(): string }

const graceMs = 500
const mostWords = 2000
const mostMessageBytes = 10 << 20
const never = new AbortController().signal

/** Speaks with a process of its own group by its pipes, and ends it with everything that it started. */
export function stdioTransport({ command, args, env, folder, processes }: Starting): StdioTransport {
  const mark = { name: environmentNames.call, value: randomUUID() }
  const buffer = new ReadBuffer({ maxBufferSize: mostMessageBytes })
  let child: ChildProcessWithoutNullStreams | undefined
  let closing: Promise<void> | undefined
  const closed = Promise.withResolvers<void>()
  let words = ''

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

  const end = async (): Promise<void> => {
    if (child?.pid === undefined) return
    const { pid, exitCode, signalCode } = child
    const hasEnded = exitCode !== null || signalCode !== null
    child.stdin.end()
    await processes.endTree({ pid, mark, ...(hasEnded && { hasEnded }) }, { graceMs }, never)
    // Its last words may still be on their way; a pipe can be held open by a process that is not ours to end.
    await Promise.race([closed.promise, sleep(graceMs, undefined, { ref: false })])
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    buffer.clear()
  }

  const transport: StdioTransport = {
    async start() {
      // A group of its own: signals for the daemon pass it by, and it can be ended as a whole.
      child = spawn(command, [...args], {
        cwd: folder,
        env: { ...env, [mark.name]: mark.value },
        detached: true,
        stdio: 'pipe',
      })
      child.stdout.on('data', read)
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(-mostWords)
      })
      for (const stream of [child.stdin, child.stdout, child.stderr])
        stream.on('error', (error) => transport.onerror?.(error))
      child.once('close', () => {
        closed.resolve()
        transport.onclose?.()
      })
      await once(child, 'spawn')
      child.on('error', (error) => transport.onerror?.(error))
    },
    async send(message: JSONRPCMessage) {
      if (closing || !child?.stdin.writable) throw new Error('the server has ended')
      if (!child.stdin.write(serializeMessage(message))) await once(child.stdin, 'drain')
    },
    // Whoever comes second waits for the same end.
    close: () => (closing ??= end()),
    lastWords: () => words.trim(),
  }
  return transport
}
