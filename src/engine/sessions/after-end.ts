import { shortId } from '../../contract/ids.ts'
import { hasEnded } from '../../core/session/state.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './parts.ts'
import type { TranscriptFollower } from './transcript.ts'
import type { SessionWatch } from './watch.ts'

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
