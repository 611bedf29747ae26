import type { AnswerRule, DialogRule } from '../../system/screen-dialogs.ts'

/** What Codex shows, as data: each new version that looks different gets an entry of its own. */
export type CodexScreenRules = {
  /** What stands in the empty box. */
  readonly placeholders: readonly string[]
  readonly working: RegExp
  readonly workingTitle: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly interrupted: RegExp
  readonly limit: RegExp
  readonly queueHeader: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

export const codexScreenRules: readonly (readonly [since: string, rules: CodexScreenRules])[] = [
  [
    '0.166.0',
    {
      placeholders: ['Ask Codex to do anything'],
      working: /\(\d[\dhms ]* • esc to interrupt\)/,
      // While text streams in, the line with the clock is gone and only the spinner in the title is left.
      workingTitle: /^[\u2801-\u28ff] /,
      retry: /Reconnecting\.\.\. (\d+)\/(\d+)/,
      error: /^■ (.+)$/,
      interrupted: /^■ Conversation interrupted/,
      limit: /You've hit your usage limit.*/,
      queueHeader: /^• (Messages to be submitted|Queued)/,
      queued: /^ {2}↳ /,
      dialogs: [
        { kind: 'permission', says: /^ *(Would you like to|Do you want to approve|Allow )/ },
        { kind: 'question', says: /^ *Question \d+\/\d+/ },
        { kind: 'plan', says: /^ *Implement this plan\?/ },
        { kind: 'trust', says: /^ *(Folder access|Hooks need review)/ },
        { kind: 'login', says: /^ *(Sign in with|Welcome to Codex|Choose how you'd like to)/ },
        { kind: 'notice', says: /^ *(Update available|Warnings ·)/ },
      ],
    },
  ],
]

/** Which choice means which answer. A folder or hooks are trusted for good, so nothing but `always` does it. */
export const codexAnswerRules: readonly AnswerRule[] = [
  {
    dialog: ['permission'],
    verdict: 'allow',
    scope: 'session',
    option: /^Yes, and don't ask again.*session/,
  },
  { dialog: ['permission'], verdict: 'allow', scope: 'always', option: /^Yes, and don't ask again/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Yes, (proceed|just this once)/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No, / },
  { dialog: ['plan'], verdict: 'allow', option: /^Yes, implement this plan/ },
  { dialog: ['plan'], verdict: 'deny', option: /^No, stay in Plan mode/ },
  {
    dialog: ['trust'],
    verdict: 'allow',
    scope: 'always',
    option: /^(Trust and continue|Trust all and continue)/,
  },
  { dialog: ['trust'], verdict: 'deny', option: /^(Quit|Continue without trusting)/ },
]
