import { assignments } from './assignments.ts'
import {
  accountToken,
  authorization,
  commandPassword,
  cookieHeader,
  urlPassword,
} from './credential-detectors.ts'
import { encodedLogin, netrc } from './credential-files.ts'
import {
  type Anchor,
  type Detector,
  followedBy,
  namedDetector,
  patternDetector,
  wordChars,
} from './detector.ts'
import { knownForms, knownValueClass } from './known-values.ts'
import { privateKey } from './private-key.ts'
import {
  createKeyKinds,
  createSurvey,
  depthClass,
  type Findings,
  fieldClass,
  redactEvent,
} from './redact-event.ts'
import type { Span } from './secret-spans.ts'
import { namedRules, type TokenRule } from './shaped-rules.ts'
import { createStreamRedactor, type StreamRedactor } from './stream-redactor.ts'
import { createTextScanner } from './text-scanner.ts'
import { tokenRules } from './token-rules.ts'
import { compilePattern, compileRule, type RedactionRule } from './user-rules.ts'

/** What a redactor looks for beyond the built-in classes. */
export type RedactorOptions = {
  readonly rules?: readonly RedactionRule[]
  /** Secrets known by value, as from the environment; short and common ones are passed over. */
  readonly knownValues?: readonly string[]
  readonly sensitiveKeys?: readonly string[]
  /** Sources of patterns; a secret that one of them matches as a whole stays. */
  readonly allowPatterns?: readonly string[]
}

/** How many secrets of each class were replaced. */
type Counts = Readonly<Record<string, number>>

/** Replaces secrets by `[redacted:<class>]`; running it on its own result changes nothing. */
export type Redactor = {
  /** The same object if there was nothing to replace; `paths` point into the result. */
  readonly event: <T>(value: T) => { value: T; paths: readonly string[]; counts: Counts }
  readonly text: (text: string) => { text: string; counts: Counts }
  /** Where `text` would replace something, in order. */
  readonly find: (text: string) => readonly Span[]
  readonly stream: () => StreamRedactor
}

/** Refuses with `invalid` a rule or allow pattern that is malformed or could run for ever. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const userDetectors = (options.rules ?? []).map(compileRule)
  const detectors = [...userDetectors, ...builtInDetectors]
  const classes = [
    ...new Set([
      ...detectors.flatMap((detector) => detector.classes),
      knownValueClass,
      fieldClass,
      depthClass,
    ]),
  ]
  const scanner = createTextScanner({
    detectors,
    forms: knownForms(options.knownValues ?? [], classes),
    classes,
    allow: (options.allowPatterns ?? []).map((source) => {
      compilePattern(`allow pattern "${source}"`, source)
      return new RegExp(`^(?:${source})$`)
    }),
  })
  const keys = createKeyKinds(scanner, options.sensitiveKeys ?? [])
  const unanchored = userDetectors.some((detector) => detector.anchors.length === 0)
  const linesOnly = userDetectors.some((detector) => detector.spaced)

  const surveyOf = createSurvey(keys, unanchored)

  const needsWork = (value: unknown): boolean => {
    const survey = surveyOf(value)
    return (
      survey.flagged ||
      scanner.suspects(survey.joined) ||
      (unanchored && survey.leaves.some((leaf) => scanner.spans(leaf).length > 0))
    )
  }

  return {
    event<T>(value: T) {
      if (!needsWork(value)) return { value, paths: none, counts: noCounts }
      const findings: Findings = { paths: new Set(), counts: {} }
      let current: unknown = value
      do {
        const next = redactEvent(current, { scanner, keys }, findings)
        if (next === current) break
        current = next
      } while (needsWork(current))
      // Only strings and keys were replaced: the shape is the one that came in.
      return { value: current as T, paths: [...findings.paths], counts: findings.counts }
    },
    text(text) {
      const counts: Record<string, number> = {}
      return { text: scanner.redact(text, counts), counts }
    },
    find: (text) => scanner.spans(text),
    stream: () => createStreamRedactor(scanner, linesOnly),
  }
}

const none: readonly string[] = []
const noCounts: Counts = Object.freeze({})

/** In order of precedence: a secret that shows what it is keeps its class inside a header or an assignment. */
const builtInDetectors: readonly Detector[] = [
  privateKey,
  ...tokenRules.map((rule) =>
    patternDetector({
      class: rule.class,
      pattern: rule.pattern,
      anchors: anchorsOf(rule),
    }),
  ),
  ...namedRules.map((rule) => namedDetector({ ...rule, names: rule.names.split(' ') })),
  accountToken,
  urlPassword,
  authorization,
  commandPassword,
  netrc,
  encodedLogin,
  cookieHeader,
  assignments,
]

function anchorsOf({
  anchors,
  fold = false,
  anywhere,
  follows = wordChars,
  next = follows,
  before,
}: TokenRule): Anchor[] {
  const plausible = followedBy(follows, 8)
  return anchors.map((text) =>
    anywhere === true ? { text, fold } : { text, fold, next, plausible, ...(before && { before }) },
  )
}
