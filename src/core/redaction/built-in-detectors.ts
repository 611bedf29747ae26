import { assignments } from './assignments.ts'
import { authorization } from './authorization.ts'
import { cookieHeader } from './cookie-header.ts'
import { curlUser } from './curl-user.ts'
import { type Detector, followedByWord, patternDetector, wordChars } from './detector.ts'
import { privateKey } from './private-key.ts'
import { tokenRules } from './token-rules.ts'
import { urlPassword } from './url-password.ts'

/** In order of precedence: a secret that shows what it is keeps its class inside a header or an assignment. */
export const builtInDetectors: readonly Detector[] = [
  privateKey,
  ...tokenRules.map((rule) =>
    patternDetector({
      class: rule.class,
      pattern: rule.pattern,
      anchors: rule.anchors.map((text) => ({ text, next: wordChars, plausible: followedByWord(8) })),
    }),
  ),
  urlPassword,
  authorization,
  curlUser,
  cookieHeader,
  assignments,
]
