import type { EventId, RunId, SessionId, SpanId, TraceId } from './ids.ts'
import { sha256 } from './sha256.ts'

/** Where an import takes its ids from: the same key always gives the same id. */
export type ImportIds = {
  readonly session: SessionId
  readonly trace: TraceId
  run(key: string): RunId
  span(key: string): SpanId
  event(key: string): EventId
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** Ids from a seed, so that importing a file twice gives every event the id it had; `atMs` keeps them in time order. */
export function derivedIds(seed: string, atMs: number): ImportIds {
  const root = hex(sha256(seed))
  const bytes = (kind: string, key: string): Uint8Array => sha256(`${root}\n${kind}\n${key}`)
  const ordered = (kind: string, key: string): string =>
    `${kind}_${timePart(atMs)}${base32(bytes(kind, key))}`
  return {
    session: ordered('ses', '') as SessionId,
    trace: nonZero(hex(bytes('trace', '').subarray(0, 16))) as TraceId,
    run: (key) => ordered('run', key) as RunId,
    span: (key) => nonZero(hex(bytes('span', key).subarray(0, 8))) as SpanId,
    event: (key) => ordered('evt', key) as EventId,
  }
}

/** The span of something that is named by a text: whoever comes back to it finds it again. */
export const derivedSpan = (text: string): SpanId => nonZero(hex(sha256(text).subarray(0, 8))) as SpanId

/** A UUID of version 4 that is the same for the same text. */
export function derivedUuid(text: string): string {
  const digits = hex(sha256(text))
  const variant = ((Number.parseInt(digits[16] ?? '0', 16) & 3) | 8).toString(16)
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ]
  return parts.join('-')
}

const byteHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byteHex[byte]
  return text
}

// An id of zeros means "none" to every tracing tool.
const nonZero = (digits: string): string => (/^0+$/.test(digits) ? `${digits.slice(1)}1` : digits)

/** 48 bits of milliseconds as ten characters; times before 1970 count as 1970. */
function timePart(atMs: number): string {
  let rest = Math.min(2 ** 48 - 1, Math.max(0, Math.floor(atMs) || 0))
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = `${alphabet[rest % 32]}${text}`
    rest = Math.floor(rest / 32)
  }
  return text
}

/** The first 80 bits as sixteen characters. */
function base32(bytes: Uint8Array): string {
  let text = ''
  for (let bit = 0; bit < 80; bit += 5) {
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    text += alphabet[(pair >> (11 - (bit & 7))) & 31]
  }
  return text
}
