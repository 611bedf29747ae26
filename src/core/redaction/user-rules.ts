import { AppError } from '../../contract/errors.ts'
import { findCatastrophe } from '../../contract/pattern-safety.ts'
import type { Detector } from './detector.ts'
import { classPattern } from './secret-spans.ts'

/** A rule of the user's own: its name is the class in the marker. */
export type RedactionRule = {
  readonly name: string
  /** The source of a regular expression. */
  readonly pattern: string
  readonly flags?: string
  /** Replace the whole match (default) or its first group only. */
  readonly replace?: 'match' | 'group1'
}

/** A user's rule, and whether its matches may reach over white space. */
type UserDetector = Detector & { readonly spaced: boolean }

/** Refuses a rule that is malformed, that matches the empty text, or that can run for ever. */
export function compileRule(rule: RedactionRule): UserDetector {
  if (!classPattern.test(rule.name)) {
    throw refusal(rule.name, 'its name must be lower-case letters, digits and dashes, 40 at most')
  }
  const pattern = compilePattern(`rule "${rule.name}"`, rule.pattern, rule.flags)
  const whole = rule.replace !== 'group1'
  if (!whole && new RegExp(`${pattern.source}|`).exec('')!.length < 2) {
    throw refusal(rule.name, 'it replaces group 1 but has no group')
  }
  const prefix = /i/.test(pattern.flags) ? '' : literalPrefix(rule.pattern)
  return {
    classes: [rule.name],
    anchors: prefix.length >= 3 ? [{ text: prefix }] : [],
    spaced: maySpanSpace.test(rule.pattern),
    scan(text, found) {
      for (const match of text.matchAll(pattern)) {
        const range = match.indices?.[whole ? 0 : 1]
        if (range !== undefined) found(...range, rule.name)
      }
      return text.length
    },
  }
}

/** A regular expression from the configuration, safe to run on any text. */
export function compilePattern(owner: string, source: string, flags = ''): RegExp {
  if (!/^[imsu]*$/.test(flags) || new Set(flags).size < flags.length) {
    throw refuse(owner, `its flags "${flags}" may only be i, m, s and u`)
  }
  let pattern: RegExp
  try {
    pattern = new RegExp(source, `${flags}dg`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw refuse(owner, `its pattern is not a regular expression: ${error.message}`)
  }
  const catastrophe = findCatastrophe(source)
  if (catastrophe !== undefined) throw refuse(owner, catastrophe)
  if (new RegExp(source, flags).test('')) throw refuse(owner, 'its pattern matches the empty text')
  return pattern
}

function refusal(name: string, reason: string): AppError {
  return refuse(`rule "${name}"`, reason)
}

function refuse(owner: string, reason: string): AppError {
  return new AppError(
    'invalid',
    `Redaction ${owner} cannot be used: ${reason}. Change it in the configuration.`,
    {
      details: { owner, reason },
    },
  )
}

/** Letters every match begins with. */
function literalPrefix(source: string): string {
  if (source.includes('|')) return ''
  const [prefix = ''] = /^[A-Za-z0-9_-]*/.exec(source) ?? []
  return /^[*?{]/.test(source.slice(prefix.length)) ? prefix.slice(0, -1) : prefix
}

// Conservative: when in doubt a stream cuts at line breaks only.
const maySpanSpace = /[\s.]|\[\^|\\[sSWDPptnrvfxuc0]/
