import { randomFillSync } from 'node:crypto'
import type { EventId, RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 48 bits of time, a 40-bit counter that only grows inside one millisecond, 40 random bits: sorts by creation. */
export function systemIds(clock: Pick<Clock, 'now'>): Ids {
  const pool = Buffer.alloc(8192)
  let used = pool.length
  let lastMs = -1
  let timePart = ''
  let counter = 0

  const randomByte = (): number => {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    return pool[used++] as number
  }
  const next = (): string => {
    // A clock that jumps back must not make later ids sort earlier.
    const ms = Math.max(clock.now(), lastMs)
    if (ms !== lastMs) {
      lastMs = ms
      timePart = base32(ms, 10)
      counter = randomByte() * 2 ** 24
    }
    counter += 1
    let random = ''
    for (let i = 0; i < 8; i++) random += alphabet[randomByte() & 31]
    return timePart + base32(counter, 8) + random
  }
  const hex = (bytes: number): string => {
    let text = ''
    for (let i = 0; i < bytes; i++) text += (randomByte() + 256).toString(16).slice(1)
    return /^0+$/.test(text) ? hex(bytes) : text
  }
  return {
    event: () => `evt_${next()}` as EventId,
    session: () => `ses_${next()}` as SessionId,
    run: () => `run_${next()}` as RunId,
    trace: () => hex(16) as TraceId,
    span: () => hex(8) as SpanId,
  }
}

function base32(value: number, digits: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < digits; i++) {
    text = alphabet[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}
