/** How often a message claims to be complete in the configured words, and how often it uses them to say it is not. */
type Claims = { readonly affirmed: number; readonly denied: number }

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

/** Why the last message of a turn speaks against the work being complete; nothing when it does not. */
export function blockerOf(message: string): string | undefined {
  const sentences = sentencesOf(message)
  // Some CLIs write this in the place of words when a person interrupts.
  if (/^\W*no response text\W*$/i.test(message)) return 'it did not answer'
  if (sentences.slice(-3).some(({ isQuestion }) => isQuestion)) return 'it ends with a question'
  if (/^\s*[-*]?\s*\[ \]/m.test(message)) return 'its list has open items'
  for (const { text } of sentences) {
    if (request.test(text)) return `it asks for something: ${text}`
    if (remaining.test(text) && !none.test(text)) return `it says that work remains: ${text}`
    if (failure.test(text) && !repaired.test(text)) return `it says that something failed: ${text}`
  }
  return undefined
}

const request = new RegExp(
  [
    String.raw`\bplease (?:confirm|provide|advise|clarify|choose|decide|complete|tell|run|grant|approve|check|review|pick|select|share|add|let me know)\b`,
    String.raw`\b(?:tell me|let me know) (?:which|what|how|whether|when|who|where)\b`,
    String.raw`\b(?:i|we) need\b`,
    String.raw`\bneeds? (?:your?|credentials|approval|access|permission|input|clarification|a decision)\b`,
    String.raw`\b(?:waiting|wait) (?:for|on|until)\b|\bawaiting\b`,
    String.raw`\b(?:someone|somebody|you) (?:has to|have to|must|needs? to)\b`,
  ].join('|'),
  'i',
)

const remaining = new RegExp(
  [
    String.raw`\b(?:remaining|remains?|outstanding|unfinished|incomplete|pending|wip|left to do|in progress|under way|in review)\b`,
    String.raw`\bto[- ]?do:|\byet\b|\bnot (?:started|begun|covered|included|written)\b`,
    String.raw`\bstill (?:needs?|has|have|fail\w*|missing|open|broken|to\b|left|runs?|running|waiting|not)\b`,
    String.raw`\bnext (?:steps?|up|i\b|we\b|comes?\b)`,
    String.raw`\b(?:i['’]ll|i will|i am going to|i['’]m going to|we['’]ll|we will)\b(?! (?:stop|leave it))`,
    String.raw`\b(?:moving|move) on\b|\bcontinu(?:e|ing) (?:with|on)\b|\bnow i\b`,
    String.raw`\bi (?:look|go|keep|continue|work|start|begin|proceed|carry)\b`,
    String.raw`\blet me (?:check|look|see|try|run|now|first|start)\b`,
  ].join('|'),
  'i',
)
const none =
  /\b(?:nothing|no|none|without|zero|0)\b[^.]{0,40}\b(?:remain\w*|left|outstanding|pending|open|to do)\b/i

const failure = new RegExp(
  [
    String.raw`\b(?:fails?|failing|failed|crash(?:es|ed|ing)?|broken|blocked|blocks?|stuck|unable|cannot|missing|denied|aborted|stopped|undone|overwritten|corrupt(?:ed)?|lost)\b`,
    String.raw`\b(?:can|could)(?: not|n['’]t)\b|\bcan['’]t\b`,
    String.raw`\b(?:gave|giving|give) up\b|\btimed out\b|\bnone (?:of them )?works?\b|\bno luck\b`,
    String.raw`\bconflicts?\b|\broll(?:ed|ing)? (?:it |them |this )?back\b|\bdisk is full\b`,
  ].join('|'),
  'i',
)
const repaired =
  /\b(?:fixed|resolved|solved|handled|handles|handling|repaired|no longer|covers?|(?:no|zero|0|without(?: any)?) (?:\w+ )?(?:fail\w*|conflicts?|crash\w*|errors?)|could(?: not|n['’]t) find)\b/i

/** A sentence of a message and whether it asks. */
type Sentence = { readonly text: string; readonly isQuestion: boolean }

/** The sentences of a message, without code and quotations: those are not the agent's own words. */
function sentencesOf(message: string): readonly Sentence[] {
  return withoutQuotes(message)
    .split('\n')
    .flatMap((row) => row.split(/(?<=[.!?…])(?=\s|$)/))
    .map((text) => text.replace(/[*_#>~|]+/g, ' ').trim())
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
    .map((text) => ({ text, isQuestion: /\?\W*$/.test(text) }))
}

const withoutQuotes = (message: string): string =>
  message
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/`[^`\n]*`/g, ' code ')
    .replace(/"[^"\n]*"|“[^”\n]*”/g, ' quote ')
