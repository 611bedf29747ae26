import type { Decision } from '../../contract/decision.ts'
import { told } from '../../contract/formats/foreign-json.ts'
import type { Screen } from '../../contract/screen.ts'
import type { Composer, Dialog, ScreenReading } from '../../contract/signal.ts'
import {
  type AnswerRule,
  choiceFor,
  type DialogRule,
  dialogKind,
  rulesFor,
} from '../system/screen-dialogs.ts'

const rule = /^─{20,}/

/** Reads pi's screen: the box, or a dialog in its place, is between the last two horizontal rules. */
export function piScreen(screen: Screen, version: string): ScreenReading {
  const rules = rulesFor(piScreenRules, version)
  const lines = screen.lines.map((line) => line.trimEnd())
  const to = lines.findLastIndex((line) => rule.test(line))
  const from = lines.findLastIndex((line, at) => at < to && rule.test(line))
  const inside = from < 0 ? [] : lines.slice(from + 1, to)
  const dialog = dialogIn(inside, rules)
  const above = lines.slice(0, Math.max(0, from))
  const near = above.slice(-6)
  const isWorking = !dialog && near.some((line) => rules.working.test(line))
  const retry = near.map((line) => rules.retry.exec(line)).findLast((match) => match !== null)
  const error = near.map((line) => rules.error.exec(line)?.[1]).findLast((text) => text !== undefined)
  const limit = near
    .map((line) => rules.limit.exec(rules.error.exec(line)?.[1] ?? '')?.[0])
    .findLast((text) => text !== undefined)
  const queued = near.filter((line) => rules.queued.test(line)).length
  return {
    composer: from < 0 || dialog ? { state: 'none' } : composerOf(inside),
    isWorking,
    ...told({
      dialog,
      retry: isWorking && retry ? { attempt: Number(retry[1]), of: Number(retry[2]) } : undefined,
      limit: isWorking || limit === undefined ? undefined : { text: limit },
      error: isWorking ? undefined : error,
      queued: queued > 0 ? queued : undefined,
    }),
  }
}

function composerOf(inside: readonly string[]): Composer {
  const text = inside.join('\n').trim()
  return text === '' ? { state: 'empty' } : { state: 'text', text }
}

const option = /^ (→|  )\s?(\S.*)$/

/** A list whose chosen line has an arrow before it. */
function dialogIn(inside: readonly string[], rules: PiScreenRules): Dialog | undefined {
  const list = inside.flatMap((line) => {
    const match = option.exec(line)
    return match ? [{ isChosen: match[1] === '→', label: match[2] ?? '' }] : []
  })
  const selected = list.findIndex(({ isChosen }) => isChosen)
  if (selected < 0) return undefined
  const kind = dialogKind(inside, rules.dialogs)
  const title = kind?.title ?? inside.find((line) => line.trim() !== '')?.trim() ?? ''
  const first = inside.findIndex((line) => option.test(line))
  const body = inside
    .slice(0, first)
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== title)
    .join('\n')
  return { kind: kind?.kind ?? 'menu', title, body, options: list.map(({ label }) => label), selected }
}

/** The keys that walk to the choice and take it. */
export function piAnswerKeys(dialog: Dialog, decision: Decision): readonly string[] | undefined {
  const at = choiceFor(piAnswerRules, dialog, decision)
  if (at === undefined || dialog.selected === undefined) return undefined
  const steps = at - dialog.selected
  return [...Array.from({ length: Math.abs(steps) }, () => (steps < 0 ? 'Up' : 'Down')), 'Enter']
}

/** What pi shows, as data: each new version that looks different gets its own entry. */
type PiScreenRules = {
  readonly working: RegExp
  readonly retry: RegExp
  readonly error: RegExp
  readonly limit: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

const piScreenRules: readonly (readonly [since: string, rules: PiScreenRules])[] = [
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

/** The choices that Muster's extension offers; there are no digits, so they are reached by arrows. */
const piAnswerRules: readonly AnswerRule[] = [
  { dialog: ['permission'], verdict: 'allow', scope: 'once', option: /^Allow once$/ },
  { dialog: ['permission'], verdict: 'allow', option: /^Allow for this session$/ },
  { dialog: ['permission'], verdict: 'deny', option: /^Deny$/ },
]
