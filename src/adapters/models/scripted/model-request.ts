import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { AppError } from '../../../contract/errors.ts'
import type { Choice } from './choose-answer.ts'
import type { Usage } from './script.ts'

/** One request and what it was answered. Keys and bodies are never kept. */
export type RecordedRequest = {
  readonly n: number
  readonly at: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  protocol?: string
  model?: string
  isStream?: boolean
  answered: Choice['answered'] | 'count' | 'models' | 'hello' | 'refused' | 'unknown'
  /** The script's key and the index of the step in it. */
  script?: string
  step?: number
  status?: number
  /** The id by which the client knows the response. */
  responseId?: string
  tools?: readonly string[]
  /** As the protocol told it. */
  usage?: Usage
  /** False until the answer was sent to its end. */
  isSent: boolean
}

/** The last requests, oldest first. */
export type RequestLog = {
  open(request: Pick<RecordedRequest, 'at' | 'method' | 'path' | 'headers'>): RecordedRequest
  list(): RecordedRequest[]
}

/** Keeps so many. */
export function requestLog(limit: number): RequestLog {
  const kept: RecordedRequest[] = []
  let count = 0
  return {
    open(request) {
      count += 1
      const recorded: RecordedRequest = { n: count, ...request, answered: 'unknown', isSent: false }
      kept.push(recorded)
      if (kept.length > limit) kept.shift()
      return recorded
    },
    list: () => structuredClone(kept),
  }
}

/** By these a request is tied to the program and session that sent it; others may hold keys. */
const headersOfInterest = [
  'user-agent',
  'x-app',
  'x-claude-code-session-id',
  'x-claude-code-agent-id',
  'originator',
  'session-id',
  'thread-id',
  'x-session-id',
]

/** The headers that are recorded. */
export function recordedHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const found = headersOfInterest.map((name) => [name, headers[name]] as const)
  return Object.fromEntries(found.filter((pair): pair is [string, string] => typeof pair[1] === 'string'))
}

const mostBytes = 64 * 1024 * 1024

/** The text of a request's body, uncompressed. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return bytes.toString('utf8')
  const decompress = decompressors[encoding]
  if (decompress === undefined)
    throw new AppError('unsupported_media', `request bodies in ${encoding} are not supported`)
  return decompress(bytes).then(
    (text) => text.toString('utf8'),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
      throw new AppError('invalid', `the body is not in ${encoding}, as its header says`, { cause: error })
    },
  )
}

const bounded = { maxOutputLength: mostBytes }
const decompressors: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, bounded),
  deflate: (bytes) => promisify(inflate)(bytes, bounded),
  br: (bytes) => promisify(brotliDecompress)(bytes, bounded),
  zstd: (bytes) => promisify(zstdDecompress)(bytes, bounded),
}

const tooLarge = () => new AppError('too_large', `a body has at most ${mostBytes} bytes`)
