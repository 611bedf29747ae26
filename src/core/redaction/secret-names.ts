/** How sure a name is of its value: `strong` values may be any word, `normal` ones must look random. */
export type NameStrength = 'none' | 'normal' | 'strong'

/** Whether a field, variable or flag of this name holds a secret. Case and separators do not matter. */
export function nameStrength(name: string): NameStrength {
  let strength = judged.get(name)
  if (strength === undefined) {
    strength = judge(name)
    if (judged.size === mostJudged) judged.clear()
    judged.set(name, strength)
  }
  return strength
}

// A program or a log says the same few names again and again.
const judged = new Map<string, NameStrength>()
const mostJudged = 1000

function judge(name: string): NameStrength {
  const words = wordsOf(name)
  while (words.length > 1 && environmentWords.test(words.at(-1)!)) words.pop()
  const last = words.at(-1)
  if (last === undefined || harmlessTails.has(last)) return 'none'
  const whole = words.join('')
  if (/passw(?:or)?d|passphrase/.test(whole)) return /passw(?:or)?dless/.test(whole) ? 'none' : 'strong'
  // What sshpass reads; in small letters it is that program.
  if (last === 'pwd' || /(?:^|_)SSHPASS$/.test(name)) return 'strong'
  if (last === 'pass') return words.length > 1 && passOwners.test(words.at(-2)!) ? 'strong' : 'none'
  if (/(?:secrets?|credentials?|authorization|cookies?)$/.test(whole)) return 'strong'
  if (harmlessTokens.test(whole)) return 'none'
  if (/(?:token|jwt|keydata)$/.test(whole) || secretKeys.test(whole)) return 'normal'
  const constant = /^[A-Z][A-Z0-9_]*$/.test(name) && words.length > 1
  return constant && last === 'key' && !harmlessKeys.test(words.at(-2)!) ? 'normal' : 'none'
}

/** The shell keeps its working directory under a name that looks like a password's. */
export function isDirectoryName(name: string, value: string): boolean {
  return /pwd$/i.test(name) && /^(?:[~.]{0,2}[\\/]|[A-Za-z]:[\\/])/.test(value)
}

export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}

const environmentWords =
  /^(?:prod|production|dev|development|test|testing|staging|stage|live|local|old|new|[0-9]+)$/

const passOwners =
  /^(?:db|database|user|admin|root|smtp|mail|email|imap|ftp|ssh|mysql|pg|postgres|redis|mongo|auth|login|http|proxy|basic|app|service|key|keystore|sudo|wifi|api)$/

const secretKeys =
  /(?:api|access|secret|private|application|admin|consumer|signing|encryption|account|shared|master|auth|ssh|deploy|service|servicerole|license|storage|webhook)key$/

const harmlessKeys =
  /^(?:public|primary|foreign|cache|sort|partition|row|index|hot|short|idempotency|lookup|map|object|config|registry|dedup|routing|group|composite|unique|hash|range|default|keyboard|any|press|enter|arrow|escape|return|meta|control|shift)$/

// Model, paging and parser vocabulary.
const harmlessTokens =
  /(?:page|next|continuation|cancel|cancellation|stop|eos|bos|pad|unk|mask|sep|cls|first|last|per|special|design|sync|cursor|keyword)token$/

// "token count", "password policy": the last word says that the value is about a secret, not one.
const harmlessTails = new Set(
  `count counts limit limits used usage type types name names id ids length len size budget total field fields policy
  path file files url uri endpoint expiry expires expiration ttl at date time version status required enabled disabled
  format index kind label placeholder prefix suffix scope scopes rotation manager provider store ref arn hint min max
  rate class cost price ratio percent regex pattern rule rules schema algorithm alg strength age exists present valid
  changed updated created reset mode source title description message error text`
    .split(/\s+/)
    .filter((word) => word !== ''),
)
