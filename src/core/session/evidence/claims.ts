import { type Sentence, sentencesOf } from './sentences.ts'

/** How often a message claims to be complete in the configured words, and how often it uses them to say it is not. */
export type Claims = { readonly affirmed: number; readonly denied: number }

/** Looks for completion phrases as whole words, whatever their case, and at what is said of them. */
export function claimsOf(message: string, patterns: readonly string[]): Claims {
  let [affirmed, denied] = [0, 0]
  for (const sentence of sentencesOf(message))
    for (const pattern of patterns)
      for (const match of sentence.text.matchAll(wholeWords(pattern))) {
        const said = readClaim(sentence, { pattern, start: match.index, end: match.index + match[0].length })
        if (said === 'affirmed') affirmed++
        if (said === 'denied') denied++
      }
  return { affirmed, denied }
}

type Found = { readonly pattern: string; readonly start: number; readonly end: number }

const edge = String.raw`[\p{L}\p{N}_-]`
const wholeWords = (pattern: string): RegExp => {
  const words = pattern
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(String.raw`(?<!${edge})${words.join(String.raw`\s+`)}(?!${edge})`, 'giu')
}

const negation = /\b(?:not|never|no|none|nothing|nobody|neither|nor|hardly|barely|cannot|without)\b|n['’]t\b/i
const condition =
  /\b(?:when|once|if|until|till|unless|before|after|whether|while|assume|hope|expect|ensure|sure|check|verify|see|want|as soon as)\b/i
const hedge =
  /\b(?:almost|nearly|half|partly|partially|mostly|only|will|would|should|shall|must|may|might|could|can)\b|['’]ll\b|\bto(?: be)?$/i
const exception =
  /\b(?:except|apart from|aside from|besides|so far|for now|up to|only|unless|if|when|once|until|but|however|though|although)\b/i
const part =
  /\b(?:phase|step|part|stage|round|milestone|batch|section|chunk|commit|item)\s*#?\d|\b(?:first|second|third|my|this|that|one)\s+(?:of|part|half|step|phase|piece|side|end)\b/i

/** What a sentence says with a phrase: that it is so, that it is not or not wholly, or something else. */
function readClaim({ text, isQuestion }: Sentence, found: Found): 'affirmed' | 'denied' | 'other' {
  const before =
    text
      .slice(0, found.start)
      .split(/[,;:(—–]|\s-\s|\b(?:and|but|so)\b/i)
      .at(-1) ?? ''
  const after = text.slice(found.end)
  const words = before.trim().split(/\s+/)
  if (isOtherUse(found.pattern, words.at(-1) ?? '', after)) return 'other'
  const isDenied =
    isQuestion ||
    negation.test(before) ||
    condition.test(before) ||
    hedge.test(words.slice(-4).join(' ')) ||
    exception.test(after) ||
    isPartial(text)
  return isDenied ? 'denied' : 'affirmed'
}

const attributive = /^(?:a|an|the|this|that|your|my|our|their|every|each|of)$/i
const object = /^\s+(?:the|this|that|a|an|your|my|our|all|each|every|it|them)\b/i
const afterState =
  /^\s*(?:$|[^\p{L}\p{N}\s])|^\s+(?:and|with|now|as|for|in|on|at|but|so|except|again|already|successfully|without|after|from|by|too|up|when|once|if|unless|until|only|apart|i|we|you|they|it)\b/iu

// "the complete list", "complete the form", "definition of done": the word, but no claim.
function isOtherUse(pattern: string, wordBefore: string, after: string): boolean {
  if (/\s/.test(pattern.trim())) return false
  if (attributive.test(wordBefore)) return true
  const isParticiple = /(?:ed|done)$/i.test(pattern)
  return !isParticiple && (object.test(after) || (/e$/i.test(pattern) && !afterState.test(after)))
}

function isPartial(text: string): boolean {
  const counts = [...text.matchAll(/\b(\d+)\s*(?:\/|of|out of)\s*(\d+)\b/gi)]
  if (counts.length > 0) return counts.some(([, some, all]) => some !== all)
  return part.test(text) || /(?<!\d)(?!100\s*%)\d+(?:\.\d+)?\s*(?:%|percent)/i.test(text)
}
