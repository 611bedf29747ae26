import type { Draft } from '../../contract/event.ts'
import type { Detection } from '../../contract/events/session.ts'
import { shortId } from '../../contract/ids.ts'
import type { Signal } from '../../contract/signal.ts'
import type { TerminalPlace } from '../../core/session/managed.ts'
import { hasEnded } from '../../core/session/state.ts'
import type { TerminalEvent } from '../../ports/terminal.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import type { Live } from './sessions.ts'
import type { TranscriptFollower } from './transcript.ts'
import type { SessionWatch } from './watch.ts'

/** What is said of the end of a session; `detected` when a guess of it was agreed to. */
export type Said = {
  readonly message?: string | undefined
  readonly status: 'completed' | 'error' | 'abandoned'
  readonly detected?: Detection | undefined
}

/** The end of a session as it was said, after the end of what still ran in it. */
export function completing(watch: SessionWatch, { message, status, detected }: Said): Draft[] {
  const said = { ...(message !== undefined && { message }) }
  return [
    ...closing(watch),
    status === 'error'
      ? draftOf(watch.root, 'session.failed', { ...said, reason: 'said by the agent' })
      : draftOf(watch.root, 'session.completed', {
          ...said,
          outcome: status,
          ...(detected && { detected }),
        }),
  ]
}

/**
 * The turn in which an agent says that it is done, and the call by which it says so, end well;
 * without this they would be ended by force with the session.
 */
function closing(watch: SessionWatch): Draft[] {
  const open = [...(watch.state()?.open.values() ?? [])]
  const ended = open.toReversed().flatMap((span): Draft[] => {
    const { kind: _kind, facts: _facts, parentRunId, ...at } = span
    const facts = span.facts as { callId?: string; tool?: string; agentId?: string }
    if (span.kind === 'tool' && facts.callId !== undefined)
      return [
        draftOf({ ...watch.root, ...at }, 'tool.call.completed', {
          callId: facts.callId,
          tool: facts.tool ?? 'unknown',
        }),
      ]
    if (span.kind === 'agent' && facts.agentId !== undefined)
      return [
        draftOf(
          { ...watch.root, ...at },
          'agent.completed',
          // Agents that it started itself are not told of by its own turn.
          parentRunId === undefined ? watch.turnEnd('agent.completed') : { agentId: facts.agentId },
        ),
      ]
    return []
  })
  return [...watch.unwritten(), ...ended]
}

/** How a program ended by itself. */
type Exit = {
  readonly at: number
  readonly code?: number | undefined
  readonly signal?: string | undefined
}

/** The program ended by itself: whatever it was asked to do, nobody said that it is done. */
export async function sayExited({ watch, transcript }: Live, exit: Exit): Promise<void> {
  await transcript.settled()
  const { at, code, signal: died } = exit
  const signal: Signal = {
    kind: 'exited',
    source: 'process',
    at,
    ...(code !== undefined && { code }),
    ...(died !== undefined && { signal: died }),
  }
  await watch.take([signal])
  const isOwn = watch.state()?.managed?.cli === 'custom'
  const how = died === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${died}`
  await watch.end(
    code === 0
      ? draftOf(watch.root, 'session.completed', {
          outcome: isOwn ? 'completed' : 'cancelled',
          reason: 'its program was left (exit code 0)',
        })
      : draftOf(watch.root, 'session.failed', { reason: `its program ended: ${how}` }),
  )
}

/** Its terminal is gone, and nobody said that it is done. */
export async function sayClosed({ watch, transcript }: Live, { at, why }: { at: number; why: string }) {
  await transcript.settled()
  await watch.end(draftOf(watch.root, 'session.failed', { reason: why }))
  await watch.take([{ kind: 'exited', source: 'process', at }])
}

/** It was recorded, and the daemon ended before its start was. */
export async function sayUnmade({ watch }: Live): Promise<void> {
  await watch.end(
    draftOf(watch.root, 'session.failed', {
      reason: 'spawn failed',
      error: 'Muster was stopped while it was being started; spawn it again',
    }),
  )
}

type End = Extract<TerminalEvent, { kind: 'exited' | 'closed' }>

type Died = Extract<TerminalEvent, { kind: 'died' }>

/** Terminals of others end as well: only so many of the last are remembered. */
const most = 256

/** Ends of terminals that nobody followed yet: a program may end sooner than its start is written down. */
export class EarlyEnds {
  readonly #ends: End[] = []

  note(end: End): void {
    this.#ends.push(end)
    if (this.#ends.length > most) this.#ends.shift()
  }

  /** The end of the terminal at this place, when there was one. */
  of(place: TerminalPlace | undefined): End | undefined {
    return this.#ends.find((end) => isEndOf(end, place))
  }
}

/** Whether a terminal that ended, alone or with its whole server, is the one at this place. */
export function isEndOf(end: End | Died, place: TerminalPlace | undefined): boolean {
  if (place?.serverId !== end.server) return false
  if (end.kind === 'died') return true
  return end.kind === 'exited' ? end.pane === place.paneId : end.session === place.terminalId
}

type Ended = { readonly watch: SessionWatch; readonly transcript: TranscriptFollower }

/** What is done for a session that has ended: its transcript is kept, its program and its work tree may go. */
export class AfterEnd {
  readonly #parts: Parts
  readonly #archived = new WeakSet<SessionWatch>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** It works again: its next end is another one. */
  reopened(watch: SessionWatch): void {
    const state = watch.state()
    if (state && !hasEnded(state)) this.#archived.delete(watch)
  }

  /** Keeps the transcript, once for each end. */
  async archive({ watch, transcript }: Ended, signal: AbortSignal): Promise<void> {
    const { auto_archive_transcript } = this.#parts.config().child_agents.cleanup
    if (!auto_archive_transcript || this.#archived.has(watch)) return
    this.#archived.add(watch)
    await transcript.settled()
    const kept = await this.#parts.archive.keep(shortId(watch.id), transcript.paths(), signal)
    if (kept) await this.#parts.engine.record([draftOf(watch.root, 'session.archived', kept)])
  }

  /** Removes its work tree when nothing would be lost with it: all is committed, and on another branch too. */
  async removeWorktree(watch: SessionWatch, signal: AbortSignal): Promise<void> {
    const { worktree, isolation } = watch.state()?.managed ?? {}
    // Git runs what a repository tells it to, and behind walls the agent may have told it anything.
    if (!worktree || isolation || !(await this.#parts.workspace.removeWorktree(worktree, signal))) return
    await this.#parts.engine.record([
      draftOf(watch.root, 'session.updated', { worktree: null, by: 'muster' }),
    ])
  }
}
