import type { RouteInput } from '../../contract/routes.ts'
import type { ApprovalView, ExplanationView, SessionView } from '../../contract/session-views.ts'
import type { Size } from '../tui/held-terminal.ts'
import type { Line } from '../tui/line-editor.ts'
import type { Typed } from '../tui/read-keys.ts'
import type { Row } from './arrange.ts'

/** A word to the person, until a time. */
type Note = { readonly text: string; readonly tone: 'good' | 'bad' | 'plain'; readonly until: number }

/** An approval that is being decided. */
export type Card = {
  readonly approvalId: string
  readonly scroll: number
  /** The key that was pressed once for something risky and waits for a second press. */
  readonly armed: string | undefined
  /** Which of several questions is answered, what was chosen so far, and the marks of a choice of many. */
  readonly step: number
  readonly answers: Readonly<Record<string, string>>
  readonly marked: ReadonlySet<number>
}

/** What lies over the list. */
export type Overlay = { readonly scroll: number } & (
  | { readonly what: 'help' }
  | {
      readonly what: 'explain'
      readonly id: string
      readonly name: string
      readonly explained: ExplanationView | undefined
    }
  | {
      readonly what: 'output'
      readonly id: string
      readonly name: string
      readonly lines: readonly string[] | undefined
      readonly isAlive: boolean
      /** It has no terminal: what it said is shown. */
      readonly isOwn: boolean
    }
)

/** What the keys mean at present. */
export type Mode =
  | { readonly kind: 'list' }
  | { readonly kind: 'search'; readonly line: Line; readonly before: string }
  | { readonly kind: 'reply'; readonly id: string; readonly name: string; readonly line: Line }
  | { readonly kind: 'kill'; readonly id: string; readonly name: string }
  | { readonly kind: 'card'; readonly card: Card }
  /** Words for a card: the reason of a refusal, or an answer that no option has. */
  | { readonly kind: 'words'; readonly card: Card; readonly isAnswer: boolean; readonly line: Line }
  | { readonly kind: 'overlay'; readonly overlay: Overlay }

/** Everything that the screen shows. */
export type WatchModel = {
  readonly now: number
  readonly size: Size
  readonly color: boolean
  readonly sessions: readonly SessionView[]
  /** How many ended sessions there are; few of them are shown. */
  readonly hidden: number
  readonly approvals: readonly ApprovalView[]
  readonly isLoaded: boolean
  /** Why the daemon cannot be reached. */
  readonly offline: string | undefined
  /** Ends that somebody has looked at. */
  readonly seen: ReadonlySet<string>
  readonly folded: ReadonlySet<string>
  readonly filter: string
  /** The lines of the list, made anew when what they are made of changes. */
  readonly rows: readonly Row[]
  readonly selected: string | undefined
  /** The first line of the list on the screen. */
  readonly offset: number
  readonly mode: Mode
  readonly note: Note | undefined
}

/** All that can happen to a watch. */
export type Input =
  | Typed
  | { readonly kind: 'tick'; readonly now: number }
  | { readonly kind: 'resize'; readonly size: Size }
  | {
      readonly kind: 'loaded'
      readonly sessions: readonly SessionView[]
      readonly hidden: number
      readonly approvals: readonly ApprovalView[]
    }
  | { readonly kind: 'offline'; readonly why: string }
  | { readonly kind: 'note'; readonly text: string; readonly tone: Note['tone'] }
  /** The daemon would not tell what an overlay asked for. */
  | { readonly kind: 'untold'; readonly id: string; readonly why: string }
  | { readonly kind: 'explained'; readonly id: string; readonly explained: ExplanationView }
  | {
      readonly kind: 'printed'
      readonly id: string
      readonly lines: readonly string[]
      readonly isAlive: boolean
    }

/** What the watch wants done in the world. */
export type Effect =
  | { readonly kind: 'quit' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'redraw' }
  | {
      readonly kind: 'attach' | 'chat' | 'interrupt' | 'kill' | 'explain' | 'output'
      readonly id: string
      readonly name: string
    }
  | { readonly kind: 'send'; readonly id: string; readonly name: string; readonly text: string }
  | { readonly kind: 'decide'; readonly decision: RouteInput<'decideApproval'> }

export type Step = { readonly model: WatchModel; readonly effects: readonly Effect[] }

/** A model, and nothing to be done. */
export const still = (model: WatchModel): Step => ({ model, effects: [] })

/** How a watch begins: with nothing known yet. */
export function openModel(begin: Pick<WatchModel, 'now' | 'size' | 'color' | 'seen'>): WatchModel {
  return {
    ...begin,
    sessions: [],
    hidden: 0,
    approvals: [],
    isLoaded: false,
    offline: undefined,
    folded: new Set(),
    filter: '',
    rows: [],
    selected: undefined,
    offset: 0,
    mode: { kind: 'list' },
    note: undefined,
  }
}

const shownMs = { plain: 6000, good: 8000, bad: 20_000 } as const

/** Tells the person something, for a while. */
export function said(model: WatchModel, tone: Note['tone'], text: string): WatchModel {
  return { ...model, note: { text, tone, until: model.now + shownMs[tone] } }
}

/** The approval of a session that waits longest. */
export function pendingOf({ approvals }: WatchModel, sessionId: string): ApprovalView | undefined {
  return approvals.find(({ session_id, decision }) => session_id === sessionId && decision === null)
}

/** The approval of a card, as long as it waits. */
export function approvalOf(
  { approvals }: WatchModel,
  { approvalId }: { readonly approvalId: string },
): ApprovalView | undefined {
  return approvals.find(({ approval_id, decision }) => approval_id === approvalId && decision === null)
}

/** Whether an approval can be given for so long; one that names no scopes is given once. */
export function isOffered({ options }: ApprovalView, scope: 'once' | 'session' | 'always'): boolean {
  return scope === 'once' || options.includes(scope)
}
