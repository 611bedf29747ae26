import { randomFillSync } from 'node:crypto'
import type { EventId, RunId, SessionId, SpanId, TraceId } from '../../contract/ids.ts'
import type { Clock, Ids } from '../../ports/clock.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** Two digits for each ten bits, and two hex digits for each byte: ids are made a quarter million times a second. */
const pairs = Array.from({ length: 1024 }, (_, i) => `${alphabet[i >> 5]}${alphabet[i & 31]}`)
const bytesInHex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'))

/** 50 bits of time, a 40-bit counter that only grows inside one millisecond, 40 random bits: sorts by creation. */
export function systemIds(clock: Pick<Clock, 'now'>): Ids {
  const pool = new Uint16Array(4096)
  let used = pool.length
  let lastMs = -1
  let timePart = ''
  let counter = 0

  const random = (): number => {
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
      timePart = base32(ms, 5)
      counter = (random() & 255) * 2 ** 24
    }
    counter += 1
    let text = timePart + base32(counter, 4)
    for (let i = 0; i < 4; i++) text += pairs[random() & 1023]
    return text
  }
  const hex = (bytes: number): string => {
    let text = ''
    for (let i = 0; i < bytes; i++) text += bytesInHex[random() & 255]
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

function base32(value: number, digitPairs: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < digitPairs; i++) {
    text = pairs[rest % 1024] + text
    rest = Math.floor(rest / 1024)
  }
  return text
}
