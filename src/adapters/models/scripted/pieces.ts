const pieceLength = 24

/** A text in the pieces in which it is streamed; no character is split. */
export function pieces(text: string): string[] {
  const chars = Array.from(text)
  return Array.from({ length: Math.ceil(chars.length / pieceLength) }, (_, i) =>
    chars.slice(i * pieceLength, (i + 1) * pieceLength).join(''),
  )
}
