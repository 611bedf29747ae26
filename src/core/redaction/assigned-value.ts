import { isReference } from './detector.ts'
import { isDirectoryName, type NameStrength } from './secret-names.ts'

/** Names longer than this are none. */
export const maxName = 64

/** Where a value was found; the looser the syntax, the more the value itself must look like a secret. */
export type ValueContext = {
  readonly name: string
  readonly strength: NameStrength
  /** `data`: "name": "value". `tight`: NAME=value. `loose`: spaces or a colon, the syntax prose and code share. `flag`: --name value. */
  readonly form: 'data' | 'quoted' | 'tight' | 'loose' | 'flag'
  /** The first character after the value and any spaces; empty at the end of a line or text. */
  readonly next: string
}

/** Whether an assigned value is a secret, and not a reference, a type, a placeholder, code or prose. */
export function isSecretValue(value: string, context: ValueContext): boolean {
  if (isReference(value) || plainWords.test(value) || isDirectoryName(context.name, value)) return false
  // `wire ? "client_secrets" : "clientSecrets"`: two spellings of one name.
  if (value.length <= maxName && lettersOf(value) === lettersOf(context.name)) return false
  // What a browser is told about its cookies.
  if (/credentials$/i.test(context.name) && /^(?:include|omit|same-origin)$/.test(value)) return false
  if (context.strength === 'strong') return isStrongSecret(value, context)
  if (/^(?:~|\.{0,2})\//.test(value) && value.length < 40) return false
  if (context.form === 'tight' && /^[A-Z0-9_]+$/.test(context.name)) {
    return value.length >= 6 && !/^[0-9]{1,7}$/.test(value)
  }
  if (context.form === 'data' && value.length >= 8 && !/\s/.test(value)) return true
  return !isCode(value, context) && looksRandom(value)
}

const lettersOf = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()

function isQuoted({ form }: ValueContext): boolean {
  return form === 'quoted' || form === 'data'
}

function isStrongSecret(value: string, context: ValueContext): boolean {
  if (isQuoted(context)) return value.length >= 3
  if (context.form === 'tight') {
    if (/^[A-Z0-9_]+$/.test(context.name)) return value.length >= 3
    return value.length >= 3 && !isCode(value, context)
  }
  if (value.length < 4 || isCode(value, context)) return false
  if (context.form === 'loose' && /^[A-Za-z]+[.!?]$/.test(value)) return false
  if (/[^A-Za-z]/.test(value)) return true
  // Letters only: a word at the end of its line, not a variable called after what it holds.
  return (
    context.form === 'loose' && context.next === '' && !/[a-z][A-Z]/.test(value) && !namesSecret.test(value)
  )
}

function looksRandom(value: string): boolean {
  if (value.length < 6 || /\s|^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(value)) return false
  return /[0-9]/.test(value)
    ? !/^[0-9]{1,7}$/.test(value)
    : value.length >= 20 && !/^[a-z]+(?:[._-][a-z]+)*$/i.test(value)
}

function isCode(value: string, context: ValueContext): boolean {
  if (isQuoted(context)) return false
  if (/^[\w$.]+(?:\(|\[|::|\?\.)/.test(value) || /^[A-Za-z_$]+(?:\.[A-Za-z_$]+)+$/.test(value)) return true
  if (/^[({[|&!+]/.test(value) && !value.startsWith('[redacted:')) return true
  if (!/^[A-Za-z_$][\w$]*$/.test(value)) return false
  // A bare identifier: an argument, a member, or a variable named after what it holds.
  return (context.form === 'tight' ? /[,)(.[]/ : /[,;)(.[]/).test(context.next)
    ? !/[0-9]/.test(value) || namesSecret.test(value)
    : namesSecret.test(value) && context.form === 'loose'
}

const namesSecret = /passw|passphrase|secret|token|key|credential/i

const plainWords =
  /^(?:strings?|str|number|int|integer|bool|boolean|any|unknown|object|null|none|nil|undefined|true|false|yes|no|on|off|required|optional|text|hidden|password|passwd|secret|token|bytes|char|varchar|float|date|uuid|void|never|self|this|await|new|function|async|return|default|empty|missing|invalid|expired|enabled|disabled|redacted|masked|bearer|basic|must|should|is|the|a|an|not|and|or|for|with|was|are|can|may|will)[,;.:)]?$/i

/** A value alone on the line below its name: the syntax of YAML, and of a program whose line was too long. */
export function isSecretBelow(
  value: string,
  isInQuotes: boolean,
  context: Pick<ValueContext, 'name' | 'strength'>,
): boolean {
  if (!isSecretValue(value, { ...context, form: isInQuotes ? 'quoted' : 'loose', next: '' })) return false
  if (isInQuotes) return true
  if (value.length < 6 || !/[^A-Za-z]/.test(value) || /^[?|&:+*!@<.-]|[,;:({[]$|=>/.test(value)) return false
  return !spokenOf.test(value) && !encodings.test(value) && !isName(value, context.name)
}

/** Words follow on the same line: the value must be one that is no word, and what follows no part of a program. */
export function isKeptBesideWords(value: string, rest: string, context: BesideWords): boolean {
  const { name, strength, sign } = context
  const isVariable = /^[A-Za-z_$][\w$]*$/.test(value)
  const isConstant = /^[A-Z][A-Z0-9_]*$/.test(name)
  if (!(isVariable && !isConstant ? /^[A-Za-z]/ : /^[A-Za-z0-9(–—…]/).test(rest)) return false
  if (strength !== 'strong') return sign === '=' && isKeptAsVariable(value, rest, joiningWords)
  if (value.length < (isConstant ? 4 : 10)) return false
  if (spokenOf.test(value) || encodings.test(value) || isName(value, name)) return false
  if (isConstant || !isVariable) return !isVariable || !codeWords.test(rest)
  return isKeptAsVariable(value, rest, codeWords)
}

type BesideWords = Pick<ValueContext, 'name' | 'strength'> & { readonly sign: string | undefined }

/** What could be a variable must be long and mixed, and followed by no word that follows a variable. */
function isKeptAsVariable(value: string, rest: string, following: RegExp): boolean {
  if (value.length < 10 || following.test(rest)) return false
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !/^[A-Za-z_$.]+[0-9]{0,3}$/.test(value)
}

const codeWords = /^(?:as|if|or|else|instanceof|extends|satisfies|unless)\b/
const joiningWords = /^(?:as|in|of|is|if|or|else|instanceof|extends|satisfies|unless|for)\b/

/** Words and numbers, paths, versions, dates. */
const spokenOf =
  /^(?:[A-Za-z]+(?:[-_./'’][A-Za-z]+)*(?:[-_.][0-9]{1,3})?[.!?]?$|[0-9]+$|[~.]{0,2}[\\/]|[A-Za-z]:\\|[a-z]+:\/\/|v?[0-9]+(?:[.-][0-9]+)+|[0-9]+-(?:bit|byte|char|digit|letter|word))/

/** How a secret is made or written. */
const encodings =
  /^(?:base(?:32|58|64)|sha-?[0-9]{1,3}|md[45]|utf-?(?:8|16)|aes-?[0-9]{3}|rsa-?[0-9]{4}|argon2|pbkdf2|ed25519|x509|u?int(?:8|16|32|64)|float(?:32|64))/i

/** The name of something that is kept elsewhere, as in `secret: app-tls-2`; a password is not called so. */
function isName(value: string, owner: string): boolean {
  if (namesSecret.test(value)) return true
  return !/passw|passphrase|pwd|pass$/i.test(owner) && /^[a-z]+[0-9]*(?:[-_.][a-z0-9]+)*$/.test(value)
}
