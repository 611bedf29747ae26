import type { SessionView } from '../../contract/session-views.ts'
import { clock } from '../render/figures.ts'
import type { Colour } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { isEnded } from '../render/session-lines.ts'

/** How urgent a session is: who waits for a person first, who is over last. */
export const ranks = ['blocked', 'trouble', 'running', 'idle', 'ended'] as const
export type Rank = (typeof ranks)[number]

const troubles: ReadonlySet<string> = new Set(['limited', 'stuck', 'crashed', 'gone'])
const askings: ReadonlySet<string> = new Set(['permission', 'question', 'plan', 'approval'])
const quiet: ReadonlySet<string> = new Set(['background', 'limit'])

export function rankOf(session: SessionView): Rank {
  const { status, health, waiting_for, pending_approvals } = session
  // A failure is over and still wants somebody.
  if (status === 'error' || status === 'failed') return 'trouble'
  if (isEnded(session)) return 'ended'
  if (pending_approvals > 0 || askings.has(waiting_for ?? '')) return 'blocked'
  if (waiting_for === 'limit' || troubles.has(health)) return 'trouble'
  if (status === 'waiting_input' && !quiet.has(waiting_for ?? '')) return 'blocked'
  return status === 'idle' ? 'idle' : 'running'
}

/** What is drawn for a state: a sign, a word of at most eleven letters, and a colour. */
export type Standing = { readonly sign: string; readonly word: string; readonly colour: Colour }

export function standingOf(session: SessionView, now: number): Standing {
  const rank = rankOf(session)
  switch (rank) {
    case 'blocked':
      return { sign: '!', word: session.waiting_for ?? 'waiting', colour: 'yellow' }
    case 'trouble':
      return troubleOf(session, now)
    case 'running':
      return runningOf(session)
    case 'idle':
      return { sign: '○', word: sure('idle', session), colour: 'dim' }
    case 'ended': {
      const isDone = session.status === 'completed'
      return {
        sign: isDone ? '✓' : '✗',
        word: isDone ? 'done' : session.status,
        colour: isDone ? 'green' : 'red',
      }
    }
  }
}

function troubleOf(
  { status, completion_status, health, waiting_for, limited_until }: SessionView,
  now: number,
): Standing {
  if (status === 'error') return { sign: '✗', word: completion_status ?? 'error', colour: 'red' }
  if (waiting_for === 'limit' || health === 'limited') {
    // The time of another day does not fit, and the line below the list tells it.
    const until = limited_until === null ? '' : clock(limited_until, now).slice(-5)
    return { sign: '▲', word: until === '' ? 'limited' : `limit ${until}`, colour: 'yellow' }
  }
  if (status === 'failed') return { sign: '▲', word: 'failed', colour: 'red' }
  return { sign: '▲', word: health, colour: health === 'stuck' ? 'yellow' : 'red' }
}

const activities = {
  model_loading: 'loading',
  thinking: 'thinking',
  calling_tool: 'tool',
  working: 'working',
  idle: 'running',
} as const

function runningOf(session: SessionView): Standing {
  const { status, activity, health, waiting_for } = session
  if (status === 'spawned' || status === 'starting') return { sign: '◌', word: status, colour: 'cyan' }
  if (health === 'retrying') return { sign: '●', word: 'retrying', colour: 'yellow' }
  const word =
    waiting_for === 'background' ? 'background' : activity === null ? 'running' : activities[activity]
  return { sign: '●', word: sure(word, session), colour: 'green' }
}

// What no sign has confirmed for long is shown as a guess.
function sure(word: string, { health }: SessionView): string {
  return health === 'stale' || health === 'unknown' ? `${word}?` : word
}

/** What a session is about, in its own words: how it ended, what it asks, or what it does. */
export function wordsOf(session: SessionView, asked: string | undefined): string {
  const { completion_message, current_task, last_checkpoint, detail } = session
  if (isEnded(session)) return shortened(completion_message ?? '')
  if (session.status === 'failed') return shortened(detail ?? 'its last turn failed')
  const lost = session.alerts.find(({ kind }) => kind === 'undelivered' || kind === 'held')
  if (asked === undefined && lost) return shortened(`message ${lost.kind}: ${lost.evidence}`)
  return shortened(asked ?? current_task ?? last_checkpoint ?? detail ?? '')
}

// More of a text than this fits no line.
const longest = 1000

function shortened(text: string): string {
  return oneLine(text.slice(0, longest)).replaceAll(/\s+/g, ' ')
}
