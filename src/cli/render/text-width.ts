const escapes = /\p{Cc}\[[0-9;]*m/gu
// Wide in every terminal: CJK, Hangul, kana, full-width forms, and the emoji blocks.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const joined = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u

/** How many columns a text takes in a terminal; colours take none. */
export function textWidth(text: string): number {
  let width = 0
  for (const character of text.replaceAll(escapes, '')) {
    if (!joined.test(character)) width += wide.test(character) ? 2 : 1
  }
  return width
}

/** Pads a text to a width with spaces. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)))
}

/** Cuts an uncoloured text to a width and says so with an ellipsis. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  let kept = ''
  for (const character of text) {
    if (textWidth(kept + character) > width - 1) break
    kept += character
  }
  return width < 1 ? '' : `${kept.trimEnd()}…`
}

/** Breaks a text into lines of at most a width, at spaces where there are any. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).flatMap((long) => pieces(long, width))) {
    const next = line === '' ? word : `${line} ${word}`
    if (textWidth(next) > width && line !== '') {
      lines.push(line)
      line = word
    } else line = next
  }
  if (line !== '') lines.push(line)
  return lines
}

function pieces(word: string, width: number): string[] {
  const found: string[] = ['']
  for (const character of word) {
    const last = found.at(-1) ?? ''
    if (last !== '' && textWidth(last + character) > width) found.push(character)
    else found.splice(-1, 1, last + character)
  }
  return found
}
