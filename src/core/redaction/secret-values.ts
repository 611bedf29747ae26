import { isReference } from './reading.ts'
import { isDirectoryName, type NameStrength } from './secret-names.ts'

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
  if (context.strength === 'strong') return isStrongSecret(value, context)
  if (/^(?:~|\.{0,2})\//.test(value) && value.length < 40) return false
  if (context.form === 'tight' && /^[A-Z0-9_]+$/.test(context.name)) {
    return value.length >= 6 && !/^[0-9]{1,7}$/.test(value)
  }
  if (context.form === 'data' && value.length >= 8 && !/\s/.test(value)) return true
  return !isCode(value, context) && looksRandom(value)
}

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
