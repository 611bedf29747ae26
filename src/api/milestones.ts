import { AppError } from '../contract/errors.ts'
import type { Draft } from '../contract/event.ts'
import { shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { CheckpointView } from '../contract/session-views.ts'
import { draftOf, type Root } from '../engine/sessions/drafts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Workspace } from '../ports/workspace.ts'
import type { Directory } from './directory.ts'

type Deps = { readonly workspace: Workspace; readonly clock: Clock; readonly directory: Directory }
type Said = { readonly message: string; readonly metadata?: Record<string, unknown> | undefined }

/** Where the facts of a session's milestone go, and whether its folder can be trusted. */
export type MilestonePlace = {
  readonly root: Root
  readonly isIsolated: boolean
  readonly say: (drafts: readonly Draft[]) => Promise<void>
}

/** Records a milestone with the state of the work tree under a ref of ours, tokens and cost so far. */
export async function addCheckpoint(
  { workspace, directory }: Deps,
  { row, place: { root, isIsolated, say }, said }: { row: SessionRow; place: MilestonePlace; said: Said },
  signal: AbortSignal,
): Promise<CheckpointView> {
  const number = (await directory.checkpoints(row.sessionId)).length + 1
  const folder = row.workingDir
  const ref = `refs/muster/${shortId(row.sessionId)}/${number}`
  // Git runs what a repository tells it to, and behind walls the agent may have told it anything.
  const kept = folder === null || isIsolated ? undefined : await workspace.snapshot(folder, ref, signal)
  const now = await directory.find(row.sessionId)
  await say([
    draftOf(root, 'progress.checkpoint', {
      message: said.message,
      ...(said.metadata && { metadata: said.metadata }),
      ...(now.tokens !== null && { tokensAtCheckpoint: now.tokens }),
      ...(now.costUsd !== null && { costUsd: now.costUsd }),
      ...(kept && { commit: kept.commit, ...(kept.branch && { branch: kept.branch }) }),
    }),
  ])
  await directory.caughtUp()
  const recorded = (await directory.checkpoints(row.sessionId)).at(-1)
  if (!recorded) throw new AppError('unavailable', 'the milestone is written; the index has not taken it yet')
  return recorded
}

/** What changed in files, tokens, money and time between two milestones, or since one. */
export async function diffCheckpoints(
  { workspace, clock, directory }: Deps,
  { row, from, to }: { row: SessionRow; from: number; to: number | undefined },
  signal: AbortSignal,
) {
  const all = await directory.checkpoints(row.sessionId)
  const at = (number: number): CheckpointView => {
    const found = all[number - 1]
    if (!found)
      throw new AppError('not_found', `there is no milestone ${number}; ${row.shortId} has ${all.length}`)
    return found
  }
  const [before, after] = [at(from), to === undefined ? undefined : at(to)]
  if (before.commit === null || row.workingDir === null)
    throw new AppError(
      'conflict',
      `milestone ${from} was recorded outside of a git work tree; nothing to compare`,
    )
  if (after && after.commit === null)
    throw new AppError(
      'conflict',
      `milestone ${to} was recorded outside of a git work tree; nothing to compare`,
    )
  const range = { from: before.commit, ...(after?.commit && { to: after.commit }) }
  const { files, diff } = await workspace.diff(row.workingDir, range, signal)
  const end = after ? Date.parse(after.timestamp) : clock.now()
  const less = (a: number | null | undefined, b: number | null) =>
    a === null || a === undefined || b === null ? null : a - b
  return {
    from: before,
    to: after ?? null,
    files: files.map(({ path, change, added, removed }) => ({ path, change, added, removed })),
    diff,
    tokens: less(after ? after.tokens : row.tokens, before.tokens),
    cost_usd: less(after ? after.cost_usd : row.costUsd, before.cost_usd),
    seconds: Math.max(0, Math.floor((end - Date.parse(before.timestamp)) / 1000)),
  }
}
