import type { Choice } from './choose-answer.ts'
import type { Protocol } from './protocol.ts'
import type { Usage } from './script.ts'

/** One request and what it was answered. Keys and bodies are never kept. */
export type RecordedRequest = {
  readonly n: number
  readonly at: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  protocol?: Protocol
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
