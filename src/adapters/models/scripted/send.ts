import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../ports/clock.ts'
import type { Frame } from './protocol.ts'

/** Sends a body whole. */
export function sendJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** How slowly, and until when, a stream is sent; a cut one loses its connection half-way. */
export type Pace = {
  readonly chunkMs: number
  readonly isCut: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Sends server-sent events, as slowly as was asked. */
export async function sendFrames(
  response: ServerResponse,
  frames: readonly Frame[],
  { chunkMs, isCut, clock, signal }: Pace,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const sent = isCut ? frames.slice(0, Math.ceil(frames.length / 2)) : frames
  for (const frame of sent) {
    signal.throwIfAborted()
    if (!response.write(frameText(frame))) await once(response, 'drain', { signal })
    if (frame.isPiece && chunkMs > 0) await clock.sleep(chunkMs, signal)
  }
  if (isCut) response.destroy()
  else response.end()
}

function frameText({ event, data }: Frame): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}
