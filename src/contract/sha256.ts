import { sha256 as digest } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** The SHA-256 of a text (as UTF-8) or of bytes, for pure code that has no crypto to ask. */
export const sha256 = (data: string | Uint8Array): Uint8Array =>
  digest(typeof data === 'string' ? new TextEncoder().encode(data) : data)

/** The SHA-256 as 64 hex digits. */
export const sha256Hex = (data: string | Uint8Array): string => bytesToHex(sha256(data))
