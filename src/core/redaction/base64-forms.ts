/** Text in which a secret shows itself; in base64, the part its neighbours have no bits in. */
export type SecretForm = {
  readonly text: string
  /** The character before, and the one after, mix bits of the value with bits of its neighbours. */
  readonly mixedBefore: boolean
  readonly mixedAfter: boolean
}

/** How a value looks inside base64, standard and URL-safe, at each of the three alignments. */
export function base64Forms(value: string): SecretForm[] {
  const bytes = new TextEncoder().encode(value)
  return [0, 1, 2].flatMap((shift) => {
    const padded = new Uint8Array(shift + bytes.length)
    padded.set(bytes, shift)
    const first = Math.ceil((shift * 8) / 6)
    const bits = padded.length * 8
    const inner = { mixedBefore: shift > 0, mixedAfter: bits % 6 > 0 }
    return [standard, urlSafe].map((alphabet) => ({
      text: encode(padded, alphabet).slice(first, Math.floor(bits / 6)),
      ...inner,
    }))
  })
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const standard = `${letters}+/`
const urlSafe = `${letters}-_`

function encode(bytes: Uint8Array, alphabet: string): string {
  let out = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const group = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    for (const shift of [18, 12, 6, 0]) out += alphabet[(group >>> shift) & 63]
  }
  return out
}
