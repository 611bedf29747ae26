import type { AnswerRule, DialogRule } from '../../system/screen-dialogs.ts'

/** What pi shows, as data: each new version that looks different gets an entry of its own. */
export type PiScreenRules = {
  readonly working: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly limit: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

export const piScreenRules: readonly (readonly [since: string, rules: PiScreenRules])[] = [
  [
    '0.74.2',
    {
      working: /^ [\u2801-\u28ff] /,
      retry: /Retrying \((\d+)\/(\d+)\)/,
      error: /^ Error: (.+)$/,
      limit: /^429 .*|.*(rate|usage) limit.*/i,
      queued: /^ (Steering|Follow-up): /,
      dialogs: [{ kind: 'permission', says: /^ *May the agent use / }],
    },
  ],
]

/** The choices of the question that our own extension asks; there are no digits, so they are reached by arrows. */
export const piAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'once', option: /^Allow once$/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Allow for this session$/ },
  { dialog: ['permission'], verdict: 'deny', option: /^Deny$/ },
]
