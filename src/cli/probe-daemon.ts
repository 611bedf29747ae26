import { setTimeout as sleep } from 'node:timers/promises'
import { httpClient } from '../client/client.ts'
import { notMuster } from '../client/failure.ts'
import type { Transport } from '../client/transport.ts'
import { AppError } from '../contract/errors.ts'
import type { Health } from '../contract/health.ts'
import { type Address, localFetch } from './local-fetch.ts'

/** What stands behind an address: a daemon that answers, one that does not answer in time, or nothing. */
export type Probed =
  | { readonly state: 'running'; readonly health: Health }
  | { readonly state: 'slow' | 'down' }

/** How to reach an address; the client has no time of its own. */
export function transportTo(address: Address, token?: string): Transport {
  return {
    // The socket has no host name; on loopback the daemon checks it.
    base: 'port' in address ? `http://127.0.0.1:${address.port}` : 'http://localhost',
    request: localFetch(address),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    ...(token === undefined ? {} : { token }),
  }
}

/** Asks for the daemon's health, without a token: a stale one would hide that the daemon is well. */
export async function probeDaemon(address: Address, timeoutMs: number, signal: AbortSignal): Promise<Probed> {
  try {
    const health = await httpClient(transportTo(address)).health({}, { signal, timeoutMs })
    if (health.name !== 'muster') throw notMuster(200)
    return { state: 'running', health }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'timeout') return { state: 'slow' }
    if (isAbsent(error.cause)) return { state: 'down' }
    throw error
  }
}

// A socket file without a listener is what a killed daemon leaves; a reset is one that is just ending.
function isAbsent(cause: unknown): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code ?? '')
}
