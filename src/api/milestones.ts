import { AppError } from '../contract/errors.ts'
import type { Draft } from '../contract/event.ts'
import { shortId } from '../contract/ids.ts'
import type { SessionRow } from '../contract/index-rows.ts'
import type { CheckpointView } from '../contract/session-views.ts'
import type { Appended, Engine } from '../engine/engine.ts'
import { draftOf, type Root } from '../engine/sessions/drafts.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Workspace } from '../ports/workspace.ts'
import { checkpointView, type Directory } from './directory.ts'

type Deps = {
  readonly workspace: Workspace
  readonly clock: Clock
  readonly ids: Ids
  readonly directory: Directory
  readonly onBug: (error: unknown, where: string) => void
}

const renameMs = 10_000

type Said = { readonly message: string; readonly metadata?: Record<string, unknown> | undefined }

/** How facts about a session are written, and whether its folder can be trusted. */
export type SessionWriter = {
  readonly root: Root
  readonly isIsolated: boolean
  readonly say: (drafts: readonly Draft[]) => Promise<readonly Appended[]>
}

/**
 * Records a milestone with the state of the work tree under a ref of ours, tokens and cost so far. Its number is given
 * as it is written, so the ref has a name of its own until then; after a crash in between it keeps that name, and the
 * commit is there all the same.
 */
export async function addCheckpoint(
  { workspace, ids, directory, onBug }: Deps,
  { row, writer: { root, isIsolated, say }, said }: { row: SessionRow; writer: SessionWriter; said: Said },
  signal: AbortSignal,
): Promise<CheckpointView> {
  const now = await directory.find(row.sessionId)
  const folder = row.workingDir
  const refs = `refs/muster/${shortId(row.sessionId)}`
  const pending = `${refs}/pending-${ids.span()}`
  // Behind walls the agent may write a filter into the repository's settings in the moment in which git reads them.
  const kept = folder === null || isIsolated ? undefined : await workspace.snapshot(folder, pending, signal)
  const rename = async (to: string | undefined): Promise<void> => {
    // Not under the caller's signal: who hangs up now must not leave the ref half-way.
    if (kept && folder !== null)
      await workspace.moveRef(
        folder,
        { from: pending, to, commit: kept.commit },
        AbortSignal.timeout(renameMs),
      )
  }
  const [written] = await say([
    draftOf(root, 'progress.checkpoint', {
      message: said.message,
      ...(said.metadata && { metadata: said.metadata }),
      ...(now.tokens !== null && { tokensAtCheckpoint: now.tokens }),
      ...(now.costUsd !== null && { costUsd: now.costUsd }),
      ...(kept && { commit: kept.commit, ...(kept.branch && { branch: kept.branch }) }),
    }),
  ]).catch(async (error: unknown) => {
    await rename(undefined).catch((left: unknown) => onBug(left, `the ref ${pending}`))
    throw error
  })
  const recorded = written && (await directory.event(written.seq))
  if (recorded?.type !== 'progress.checkpoint')
    throw new AppError(
      'unavailable',
      'the milestone was recorded but could not be read back; see: sm checkpoints',
    )
  const view = checkpointView(recorded, 0)
  await rename(`${refs}/${view.number}`).catch((error: unknown) => onBug(error, `the ref ${pending}`))
  return view
}

/** What changed in files, tokens, money and time between two milestones, or since one. */
export async function diffCheckpoints(
  { workspace, clock, directory, engine }: Deps & { readonly engine: Engine },
  { row, from, to }: { row: SessionRow; from: number; to: number | undefined },
  signal: AbortSignal,
) {
  const all = await directory.checkpoints(row)
  const at = (number: number): CheckpointView => {
    const found = all.find((one) => one.number === number)
    if (!found)
      throw new AppError('not_found', `there is no milestone ${number}; ${row.shortId} has ${all.length}`)
    return found
  }
  const [before, after] = [at(from), to === undefined ? undefined : at(to)]
  // Git runs what a repository tells it to: only in a folder where Muster itself runs the session, outside of walls.
  const { workingDir, isolation } = (await engine.known(row.sessionId))?.managed ?? {}
  if (before.commit === null || workingDir === undefined || isolation)
    throw new AppError(
      'conflict',
      `milestone ${from} was recorded outside a git work tree, so there is nothing to compare`,
    )
  if (after && after.commit === null)
    throw new AppError(
      'conflict',
      `milestone ${to} was recorded outside a git work tree, so there is nothing to compare`,
    )
  const range = { from: before.commit, ...(after?.commit && { to: after.commit }) }
  const { files, diff } = await workspace.diff(workingDir, range, signal)
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
