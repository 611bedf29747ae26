import type { Detector } from './detector.ts'

/** The password in scheme://user:password@host; databases and queues put theirs there too. */
export const urlPassword: Detector = {
  classes: ['url-password'],
  anchors: [{ text: '://', plausible: hasUserPart }],
  scan(text, found) {
    for (const match of text.matchAll(userPart)) {
      const [, password] = match.indices ?? []
      if (password !== undefined && !isPlaceholder(text.slice(...password)))
        found(...password, 'url-password')
    }
    const last = text.lastIndexOf('://')
    return last !== -1 && last + maxUserPart > text.length && !/[\s"'<>]/.test(text.slice(last))
      ? last
      : text.length
  },
}

const maxUserPart = 400

// A password with an unescaped slash is taken too, unless it is a port and a path.
const userPart =
  /:\/\/[^\s:@/"'<>`]{0,128}:((?:[^\s"'<>`/?#]{1,200}|(?![0-9]{1,5}[/?#])[^\s"'<>`@]{1,200}))@(?!sha256:)/dg

function isPlaceholder(value: string): boolean {
  return /^(?:\$\{?[A-Za-z_]\w*\}?|\{\{?\w*\}?\}|\*{3,}|%s)$/.test(value)
}

function hasUserPart(bytes: Uint8Array, at: number, length: number): boolean {
  const limit = Math.min(length, at + maxUserPart)
  let named = false
  for (let i = at; i < limit; i++) {
    const byte = bytes[i]!
    if (byte === 64) return true
    if (byte === 58) named = true
    if (byte === 47 && !named) return false
    if (byte <= 32 || byte === 34 || byte === 39) return false
  }
  return limit === length
}
