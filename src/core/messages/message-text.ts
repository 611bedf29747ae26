const shortest = 12
const compared = 400

/** What of a text survives a terminal, a paste marker and a CLI's own trimming and joining of letters with their marks. */
const folded = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/**
 * Whether a prompt that a CLI took is this message. A CLI may add words around it, never leave some out;
 * where redaction has taken something out of the message, only what stands before it is compared.
 */
export function isSameText(prompt: string, message: string): boolean {
  const [taken, whole] = [folded(prompt), folded(message)]
  const [sent = ''] = whole.split('[redacted:', 1)
  if (whole === '') return false
  if (taken === whole) return true
  return sent.length >= shortest && taken.includes(sent.slice(0, compared).trim())
}

/** Whether a prompt that a CLI took has all of this text, which is known to its last character. */
export function holdsText(prompt: string, text: string): boolean {
  const [taken, sent] = [folded(prompt), folded(text)]
  return sent !== '' && (taken === sent || (sent.length >= shortest && taken.includes(sent)))
}

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

/** The word by which a person is known; no session goes by it. */
export const operatorName = 'operator'

/** What another agent says carries no authority of a person, and says so. */
export const labelled = (text: string, from: string): string =>
  from === operatorName ? text : `[from ${from}] ${text}`
