const K = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
])
const start = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

/** The SHA-256 of a text (as UTF-8) or of bytes, for pure code that has no crypto to ask. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const state = Uint32Array.from(start)
  const schedule = new Uint32Array(64)
  const whole = bytes.length - (bytes.length % 64)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < whole; at += 64) mix(state, schedule, (i) => view.getUint32(at + i * 4))
  const tail = padded(bytes, whole)
  for (let at = 0; at < tail.byteLength; at += 64) mix(state, schedule, (i) => tail.getUint32(at + i * 4))
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, i) => digest.setUint32(i * 4, word))
  return new Uint8Array(digest.buffer)
}

/** The SHA-256 as 64 hex digits. */
export const sha256Hex = (data: string | Uint8Array): string =>
  Array.from(sha256(data), (byte) => byte.toString(16).padStart(2, '0')).join('')

function padded(bytes: Uint8Array, whole: number): DataView {
  const rest = bytes.length - whole
  const tail = new Uint8Array(rest < 56 ? 64 : 128)
  tail.set(bytes.subarray(whole))
  tail[rest] = 0x80
  const view = new DataView(tail.buffer)
  view.setUint32(tail.length - 8, Math.floor(bytes.length / 0x20000000))
  view.setUint32(tail.length - 4, (bytes.length << 3) >>> 0)
  return view
}

// Plain variables and loops: an import makes three digests for every event.
function mix(state: Uint32Array, w: Uint32Array, word: (index: number) => number): void {
  const at = (index: number): number => w[index] as number
  for (let i = 0; i < 16; i++) w[i] = word(i)
  for (let i = 16; i < 64; i++) {
    const s0 = rotate(at(i - 15), 7) ^ rotate(at(i - 15), 18) ^ (at(i - 15) >>> 3)
    const s1 = rotate(at(i - 2), 17) ^ rotate(at(i - 2), 19) ^ (at(i - 2) >>> 10)
    w[i] = at(i - 16) + s0 + at(i - 7) + s1
  }
  const was = (index: number): number => state[index] as number
  let a = was(0)
  let b = was(1)
  let c = was(2)
  let d = was(3)
  let e = was(4)
  let f = was(5)
  let g = was(6)
  let h = was(7)
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (K[i] as number) + at(i)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = was(0) + a
  state[1] = was(1) + b
  state[2] = was(2) + c
  state[3] = was(3) + d
  state[4] = was(4) + e
  state[5] = was(5) + f
  state[6] = was(6) + g
  state[7] = was(7) + h
}

const rotate = (value: number, by: number): number => (value >>> by) | (value << (32 - by))
