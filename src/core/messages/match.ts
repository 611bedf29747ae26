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
