import type { AnswerRule, DialogRule } from '../../system/screen-dialogs.ts'

/** What Gemini shows, as data: each new version that looks different gets an entry of its own. */
export type GeminiScreenRules = {
  readonly placeholder: RegExp
  /** The line of the box in which the text begins. */
  readonly prompt: RegExp
  readonly working: RegExp
  readonly workingTitle: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly limit: RegExp
  readonly queueHeader: RegExp
  readonly dialogs: readonly DialogRule[]
}

export const geminiScreenRules: readonly (readonly [since: string, rules: GeminiScreenRules])[] = [
  [
    '0.61.0',
    {
      placeholder: /^\s*Type your message or @path\/to\/file$/,
      prompt: /^ [>!*] /,
      working: /\(esc to cancel, \d/,
      workingTitle: /^✦/,
      retry: /Attempt (\d+)\/(\d+)/,
      error: /^✕ (.+)$/,
      limit: /(quota|usage limit|rate limit).*/i,
      queueHeader: /^ {2}Queued \(press/,
      dialogs: [
        { kind: 'trust', says: /Do you trust the files in this folder\?/ },
        { kind: 'login', says: /How would you like to authenticate|Enter Gemini API Key/ },
        { kind: 'plan', says: /Ready to start implementation\?|Plan .*approv/i },
        {
          kind: 'permission',
          says: /^│ (Allow execution of|Apply this change\?|Do you want to proceed\?|Allow )/,
        },
        { kind: 'question', says: /^│ (Answer|Select|Choose)/ },
      ],
    },
  ],
]

/** Which choice means which answer. A folder is trusted for good, so nothing but `always` does it. */
export const geminiAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'session', option: /^Allow (.* )?for this session/ },
  {
    dialog: ['permission'],
    verdict: 'allow',
    scope: 'always',
    option: /^Allow (.* )?(for all future|always)/,
  },
  { dialog: ['permission'], verdict: 'allow', option: /^Allow once/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No/ },
  { dialog: ['plan'], verdict: 'allow', option: /^Yes/ },
  { dialog: ['plan'], verdict: 'deny', option: /^No/ },
  { dialog: ['trust'], verdict: 'allow', scope: 'always', option: /^Trust folder/ },
  { dialog: ['trust'], verdict: 'deny', option: /^Don't trust/ },
]
