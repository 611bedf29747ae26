import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../ports/clock.ts'
import type { FailsAgain } from './choose-answer.ts'
import { errorBody, type Failure } from './encode-error.ts'
import type { Protocol } from './protocol.ts'
import type { RecordedRequest } from './request-log.ts'
import type { Scenarios } from './script.ts'
import { sendJson } from './send.ts'

/** What all answers of one server have in common. */
export type Responder = {
  readonly scenarios: Scenarios
  readonly failsAgain: FailsAgain
  readonly clock: Clock
  /** Tells the ids of this server from those of another, and of the same one after a restart. */
  readonly seed: string
}

/** One request on its way to its answer; the record is filled in as it goes. */
export type Exchange = {
  readonly text: string
  readonly record: RecordedRequest
  readonly response: ServerResponse
  /** Aborted when the client has gone or the server stops. */
  readonly signal: AbortSignal
}

export function send({ response, record }: Exchange, body: object): void {
  record.status = 200
  record.isSent = true
  sendJson(response, body)
}

export function fail({ response, record }: Exchange, protocol: Protocol, failure: Failure): void {
  const { status, retryAfterSec } = failure
  record.status = status
  record.isSent = true
  const headers = retryAfterSec === undefined ? undefined : { 'retry-after': String(retryAfterSec) }
  sendJson(response, errorBody(protocol, failure), { status, ...(headers && { headers }) })
}
