import { sentencesOf } from './sentences.ts'

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
