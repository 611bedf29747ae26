/** Characters that a terminal may draw as others, as nothing or over two cells. */
const unsure =
  /[\s\p{M}\p{Cf}\p{Cc}\p{Co}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{RI}\u{fe0f}\u{fffd}]/gu
/** A box that has scrolled shows at least so much of the end of its text. */
const leastScrolled = 200

/**
 * Whether the box shows this text and nothing else. Only then may Enter be pressed: a draft of a person before or
 * behind it would be sent with it. A CLI may show a long paste as one marker, or as its two ends with a marker between.
 */
export function isShown(shown: string, text: string, marker?: RegExp): boolean {
  const sent = skeleton(text)
  const found = marker && shown.split(new RegExp(marker.source, 'g'))
  if (found && found.length > 1) {
    const [head = '', tail = ''] = [found[0], found.at(-1)].map((part) => skeleton(part ?? ''))
    const isEmpty = head === '' && tail === ''
    return found.length === 2 && (isEmpty || (sent.startsWith(head) && sent.endsWith(tail)))
  }
  const seen = skeleton(shown)
  if (seen === sent) return shown.trim() !== ''
  return seen.length >= leastScrolled && sent.endsWith(seen)
}

/** A CLI may join a letter and its mark into one character; both ways they come apart the same. */
const skeleton = (text: string): string => text.normalize('NFD').replaceAll(unsure, '')
