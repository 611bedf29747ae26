const shortest = 12
const compared = 400

/** What of a text survives a terminal, a paste marker and a CLI's own trimming and joining of letters with their marks. */
const folded = (text: string): string =>
  text
    .normalize('NFC')
    // Some drop what joins two characters when it joins nothing that they know.
    .replaceAll(/\p{Cf}/gu, '')
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
/** A box that has scrolled shows at least so much of the end of its text, or so many lines. */
const leastScrolled = 200
const leastRows = 8

/**
 * Whether the box shows this text and nothing else. Only then may Enter be pressed: a draft of a person before or
 * behind it would be sent with it. A CLI may show a long paste as one marker, or as its two ends with a marker between.
 */
export function isShown(shown: string, text: string, marker?: RegExp): boolean {
  const sent = skeleton(text)
  const folds = marker ? [...shown.matchAll(new RegExp(marker.source, 'g'))] : []
  const [fold] = folds
  if (fold) {
    const head = skeleton(shown.slice(0, fold.index))
    const tail = skeleton(shown.slice(fold.index + fold[0].length))
    return folds.length === 1 && countsFit(fold, text) && sent.startsWith(head) && sent.endsWith(tail)
  }
  const seen = skeleton(shown)
  if (seen === sent) return shown.trim() !== ''
  const isTall = shown.split('\n').length >= leastRows && seen.length >= shortest
  return (isTall || seen.length >= leastScrolled) && sent.endsWith(seen)
}

/** A marker stands for this text only when what it says of its length is true of it: another paste looks the same but for that. */
function countsFit({ groups = {} }: RegExpMatchArray, text: string): boolean {
  const { breaks, lines, chars } = groups
  return [text, text.trimEnd()].some((pasted) => {
    const count = pasted.split('\n').length
    if (breaks !== undefined && Number(breaks) !== count - 1) return false
    if (lines !== undefined && Number(lines) !== count) return false
    // Some count characters as they are, some as a program does, and some after they have made blanks of tabs.
    const lengths = [pasted.length, Array.from(pasted).length, pasted.replaceAll('\t', '    ').length]
    return chars === undefined || lengths.includes(Number(chars))
  })
}

/** A CLI may join a letter and its mark into one character; both ways they come apart the same. */
const skeleton = (text: string): string => text.normalize('NFD').replaceAll(unsure, '')

/** Terminals and programs do not agree how many cells these take: skin tones, flags, joined emoji, signs made emoji. */
const ofUnsureWidth = /[\p{Emoji_Modifier}\p{RI}]|\u{200d}|\u{fe0f}/u

/** Whether a screen with this text may be drawn in the wrong places. */
export const mayBeMisdrawn = (text: string): boolean => ofUnsureWidth.test(text)

/** The word by which a person is known; no session goes by it. */
export const operatorName = 'operator'

/** What another agent says carries no authority of a person, and says so. */
export const labelled = (text: string, from: string): string =>
  from === operatorName ? text : `[from ${from}] ${text}`
