/** Scripts that are written without spaces, or whose words are looked for by a part of them. */
const dense =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const denseRun = new RegExp(`[${dense}][${dense}\\p{M}ー々〆]*`, 'gu')
const isDense = new RegExp(`[${dense}]`, 'u')
const words = /[\p{L}\p{N}\p{M}ー々〆]+/gu
const humps = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

/** A name has few parts; what has more is a key or a digest, which nobody looks for by a part. */
const mostHumps = 8
const longestName = 80

/** Between two runs, so that no pair is found that spans them. */
const gap = 'zz'

/**
 * What can be looked for inside of the words of a text: any two neighbouring characters of a script without spaces, and
 * the parts of a name like `parseCommandLine`. The index itself takes each of these words for one.
 */
export function wordParts(text: string): string {
  const found: string[] = []
  for (const [word] of text.normalize('NFKC').matchAll(words)) {
    if (!isDense.test(word)) {
      const parts = partsOfName(word)
      if (parts.length > 1) found.push(...parts, gap)
      continue
    }
    for (const [run] of word.matchAll(denseRun)) found.push(...pairs(run), gap)
    // What stands between such characters is part of their word for the index.
    for (const rest of word.split(denseRun)) if (rest !== '') found.push(...partsOfName(rest), gap)
  }
  return found.join(' ')
}

/** `parseCommandLine` is parse, Command and Line. */
export function partsOfName(word: string): readonly string[] {
  if (word.length > longestName) return [word]
  const parts = word.split(humps)
  return parts.length > mostHumps ? [word] : parts
}

/** What a person looks for in such a script: each run as its pairs, one character as the beginning of one; and the rest. */
export function denseParts(text: string): { readonly runs: readonly string[]; readonly rest: string } {
  const known = text.normalize('NFKC')
  const runs = [...known.matchAll(denseRun)].map(([run]) => pairs(run).join(' '))
  return { runs, rest: known.replaceAll(denseRun, ' ') }
}

/** In letters that no tokenizer takes apart or folds. */
function pairs(run: string): string[] {
  const codes = Array.from(run, (letter) => `q${(letter.codePointAt(0) ?? 0).toString(36).padStart(4, '0')}`)
  if (codes.length === 1) return codes
  return codes.slice(1).map((code, i) => `${codes[i] ?? ''}${code}`)
}
