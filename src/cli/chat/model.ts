import type { RouteInput } from '../../contract/routes.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { LoopMode } from '../../contract/values.ts'
import type { Heard, ToolCall } from '../talk/heard.ts'
import type { Size } from '../tui/held-terminal.ts'
import { emptyLine, type Line } from '../tui/line-editor.ts'
import type { Typed } from '../tui/read-keys.ts'

/** A run that is under way. */
export type LiveRun = {
  readonly agent: string
  /** It works for another run: its calls are shown, its words are not. */
  readonly isBelow: boolean
  readonly sinceMs: number
  readonly detail: string
  /** Words of the present turn, as they were heard. */
  readonly turn: string
  /** The words of the turn before, for the final text to be compared with. */
  readonly said: string
  /** What of the turn is not on the screen for good yet. */
  readonly rest: string
  readonly isLineBegun: boolean
  readonly calls: number
  /** What the model says next belongs to a turn of which no record has come. */
  readonly isTurnOver: boolean
  /** Words of such a turn: they were faster than the record of what happened before them. */
  readonly held: readonly { readonly text: string; readonly isDone: boolean }[]
}

/** Words that nobody has taken up yet; they have no id before the daemon has them. */
export type Unheard = {
  readonly id: string | undefined
  readonly text: string
  readonly agent: string | undefined
}

/** A word to the person, until a time or the next key. */
export type Note = {
  readonly text: string
  readonly tone: 'good' | 'bad' | 'plain'
  readonly untilMs?: number
}

/** An approval that is being answered. */
export type Card = {
  readonly approval: ApprovalView
  /** Keys that were meant for the line must not answer what has just appeared under them. */
  readonly readyAtMs: number
  readonly step: number
  readonly answers: Readonly<Record<string, string>>
  readonly marked: ReadonlySet<number>
  /** A risky yes is given by pressing its key twice. */
  readonly armed: string | undefined
  /** The reason for a no is being typed. */
  readonly isRefusing: boolean
}

/** All that a chat in the terminal knows. */
export type ChatModel = {
  readonly size: Size
  readonly color: boolean
  readonly now: number
  /** The eight digits of the session; nothing before something was said. */
  readonly session: string | undefined
  readonly agent: string
  readonly mode: LoopMode | undefined
  readonly runs: ReadonlyMap<string, LiveRun>
  readonly calls: ReadonlyMap<string, ToolCall>
  readonly waiting: readonly Unheard[]
  readonly asks: readonly ApprovalView[]
  readonly card: Card | undefined
  readonly line: Line
  readonly history: readonly string[]
  /** Where in the history the line is from; its own end when it is new. */
  readonly at: number
  readonly draft: string
  readonly note: Note | undefined
  /** Why the daemon cannot be heard. */
  readonly offline: string | undefined
  /** Until when another Ctrl-C leaves. */
  readonly leaveUntilMs: number
}

/** What happens to a chat. */
export type ChatInput =
  | Typed
  | { readonly kind: 'heard'; readonly heard: Heard }
  | { readonly kind: 'joined'; readonly session: string; readonly agent: string }
  | { readonly kind: 'running'; readonly runs: readonly { runId: string; agent: string; isBelow: boolean }[] }
  | { readonly kind: 'sent'; readonly text: string; readonly id: string }
  | { readonly kind: 'unsent'; readonly text: string; readonly why: string }
  | { readonly kind: 'mode'; readonly mode: LoopMode }
  | { readonly kind: 'asks'; readonly asks: readonly ApprovalView[] }
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  | { readonly kind: 'note'; readonly note: Note }
  | { readonly kind: 'offline'; readonly why: string | undefined }
  | { readonly kind: 'resize'; readonly size: Size }
  | { readonly kind: 'tick' }

/** What a chat asks the world for. */
export type ChatEffect =
  | { readonly kind: 'say'; readonly text: string; readonly delivery: 'sequential' | 'important' }
  | { readonly kind: 'cancel'; readonly runIds: readonly string[] }
  | { readonly kind: 'decide'; readonly decision: RouteInput<'decideApproval'> }
  | { readonly kind: 'dismiss'; readonly id: string }
  | { readonly kind: 'look' }
  | { readonly kind: 'agents' | 'leave' | 'suspend' | 'redraw' }

/** A chat after something happened: what is on the screen for good, and what is to be done. */
export type Step = {
  readonly model: ChatModel
  readonly out: readonly string[]
  readonly effects: readonly ChatEffect[]
}

export function openChat(given: Pick<ChatModel, 'size' | 'color' | 'now' | 'agent' | 'mode'>): ChatModel {
  return {
    ...given,
    session: undefined,
    runs: new Map(),
    calls: new Map(),
    waiting: [],
    asks: [],
    card: undefined,
    line: emptyLine,
    history: [],
    at: 0,
    draft: '',
    note: undefined,
    offline: undefined,
    leaveUntilMs: 0,
  }
}

export const still = (model: ChatModel): Step => ({ model, out: [], effects: [] })
export const shown = (model: ChatModel, out: readonly string[]): Step => ({ model, out, effects: [] })
export const acted = (model: ChatModel, ...effects: readonly ChatEffect[]): Step => ({
  model,
  out: [],
  effects,
})

/** The runs of the agents that are spoken with. */
export const mainRuns = ({ runs }: ChatModel): readonly (readonly [string, LiveRun])[] =>
  [...runs].filter(([, run]) => !run.isBelow)

/** How wide a line may be; the last column stays free, where terminals differ in what comes after it. */
export const roomOf = ({ size }: ChatModel): number => Math.max(20, size.columns - 1)
