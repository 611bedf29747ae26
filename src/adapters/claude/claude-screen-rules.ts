import type { Dialog } from '../../contract/signal.ts'
import { isAtLeast } from '../system/run-program.ts'
import type { AnswerRule } from '../system/screen-dialogs.ts'

/** How one kind of dialog is told from others: a line that it always has, and where its title is. */
export type DialogRule = {
  readonly kind: Dialog['kind']
  readonly has: RegExp
  /** The line itself, the first one below the line that parts the dialog from what is above, or the next one. */
  readonly title: 'itself' | 'heading' | 'next'
}

/** What the screen of one version looks like. A new look is a new entry, tested on screens of that version. */
export type ScreenRules = {
  readonly since: string
  /** Parts the box or a dialog from what is above it; it may hold a session's name. */
  readonly parting: RegExp
  readonly boxEnd: RegExp
  /** The first line of the box: what it does with the text, and the text. A prompt of the past has another blank. */
  readonly box: RegExp
  readonly placeholders: readonly RegExp[]
  readonly working: RegExp
  readonly interruptible: RegExp
  readonly retry: RegExp
  /** A prompt of the conversation, but for those that only open a menu. */
  readonly prompt: RegExp
  readonly limit: readonly RegExp[]
  readonly error: readonly RegExp[]
  /** A prompt in the CLI's own queue, the line that ends the list, and what is above a prompt that runs. */
  readonly queued: { readonly each: RegExp; readonly end?: RegExp; readonly turnEnd?: RegExp }
  readonly dialogs: readonly DialogRule[]
  readonly numbered: RegExp
  /** What the questions of a dialog are called, in the line above them. */
  readonly heading: RegExp
  readonly pointed: RegExp
}

const dialogs: readonly DialogRule[] = [
  {
    kind: 'trust',
    has: /^ *(Accessing workspace:|Do you trust the files in this folder\?)/,
    title: 'itself',
  },
  { kind: 'bypass', has: /^ *WARNING: .*Bypass Permissions mode$/, title: 'itself' },
  {
    kind: 'login',
    has: /^ *(Detected a custom API key|Select login method|Paste code here)/,
    title: 'itself',
  },
  { kind: 'notice', has: /^ *(Settings (Warning|Error)|New MCP servers? found)/, title: 'itself' },
  { kind: 'notice', has: /^ *What do you want to do\?$/, title: 'itself' },
  { kind: 'question', has: /^(← +)? ?[☐☒✔] \S/, title: 'next' },
  { kind: 'question', has: /^Ready to submit your answers\?$/, title: 'itself' },
  { kind: 'plan', has: /^ *(Exit plan mode\?|.*Would you like to proceed\?)$/, title: 'itself' },
  { kind: 'permission', has: /^ *Do you want to .+\?$/, title: 'heading' },
  { kind: 'menu', has: /^ +(Rewind|Select model|Resume session)$/, title: 'itself' },
  { kind: 'menu', has: /^ *Showing detailed transcript/, title: 'itself' },
  // Something that is not known yet waits for a person; a menu that a person opened says otherwise above.
  { kind: 'notice', has: /^ *Enter to confirm · Esc to cancel$/, title: 'heading' },
  { kind: 'menu', has: /\bEsc to (cancel|close|exit|go back)\b/i, title: 'heading' },
]

const first: ScreenRules = {
  since: '2.1.0',
  parting: /^[─▔]{10,}.*[─▔]$/,
  boxEnd: /^─{10,}$/,
  box: /^(?<mode>[❯!])(?:[\u00a0 ](?<text>.*))?$/,
  placeholders: [/^Press up to edit queued messages$/, /^Try "/],
  working: /^[·✢✳✶✻✽✺*] \S[^…]*…/,
  interruptible: /\besc to interrupt\b/,
  retry: /^[·✢✳✶✻✽✺*] (?<error>.+) · Retrying in \d+.* · attempt (?<attempt>\d+)(?:\/(?<of>\d+))?/,
  prompt: /^❯ (?!\/)/,
  limit: [/^ *⎿ +(You've (?:hit|reached) your .*limit.*)$/, /^ *⚠ (Usage limit reached.*)$/],
  error: [
    /^● (API Error: .+)$/,
    /^● (Please run \/login.*)$/,
    /^ *⎿ +(Credit balance.*)$/,
    / {2,}(Not logged in.*)$/,
  ],
  queued: { each: /^ {2}❯ / },
  dialogs,
  numbered: /^ *(?<pointer>❯)? *(?<number>\d+)\. +(?<check>\[.\] +)?(?<label>.+)$/,
  heading: /[☐☒] (?<heading>\S+(?: \S+)*)/g,
  pointed: /^(?<indent> *)❯ (?<label>.+)$/,
}

const all: readonly ScreenRules[] = [
  first,
  {
    ...first,
    since: '2.1.325',
    queued: { each: /^❯ /, end: /^ +ctrl\+x ctrl\+s to send now/, turnEnd: /^✻ .* for \d|⎿ +Interrupted/ },
  },
]

/** The rules for a version; the newest for one that is not known. */
export function rulesFor(version: string): ScreenRules {
  const fitting = all.findLast(({ since }) => isAtLeast(version, since))
  return fitting ?? (all.at(-1) as ScreenRules)
}

/**
 * Which choice of a dialog means an answer. What switches to another mode allows far more than what was asked, so no
 * answer means that.
 */
export const claudeAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'once', option: /^Yes$/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Yes, and (don['’]t ask again|always allow)/ },
  { dialog: ['permission'], verdict: 'deny', option: /^No\b/ },
  {
    dialog: ['plan'],
    verdict: 'allow',
    option: /^Yes(, manually approve edits|, and switch to default .*)?$/,
  },
  { dialog: ['plan'], verdict: 'deny', option: /^No\b/ },
]
