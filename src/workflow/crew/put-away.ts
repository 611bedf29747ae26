import { collectWork } from '../../engine/delegation/place.ts'
import { passRefusal } from '../../engine/delegation/spare-tree.ts'
import { type CrewInput, type CrewParts, treeOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** So long git may take to put away what a cancelled crew left. */
export const putAwayMs = 60_000

/** A crew that works no more, with what its places are known by. */
type Stopped = {
  readonly parts: Pick<CrewParts, 'branches' | 'worktrees'>
  readonly input: Pick<CrewInput, 'repo'>
  readonly flow: { readonly id: string }
}

/**
 * Takes away the work trees of a crew that did not come to its end. What is in one and in no commit is committed to
 * its branch first; a branch with work of its own stays, one without goes.
 */
export async function putAway({ parts, input, flow }: Stopped, signal: AbortSignal): Promise<void> {
  const { branches, worktrees } = parts
  const { root } = input.repo
  const all = await branches.worktreesIn(root, worktrees, signal)
  const own = all.filter(({ branch }) => branch?.startsWith(`muster/${flow.id}.`))
  // The branch of the whole crew last: others may be part of it.
  const whole = all.filter(({ branch }) => branch === `muster/${flow.id}`)
  for (const { path, branch } of [...own, ...whole]) {
    await branches.abandonMerge(path, signal).catch(passRefusal)
    await branches.commitAll(path, 'Work in progress when the crew was stopped', signal).catch(passRefusal)
    await branches.closeWorktree(root, path, signal).catch(passRefusal)
    if (branch !== undefined) await branches.dropBranch(root, branch, signal).catch(passRefusal)
  }
}

/** The same after a cancel, once nobody works in them any more; no step of the flow is left to do it in. */
export async function putAwayAfterCancel(run: CrewRun): Promise<void> {
  const { parts, flow, input } = run
  await flow.quiet()
  await putAway(run, AbortSignal.timeout(putAwayMs)).catch((error: unknown) => {
    const left = treeOf(parts.worktrees, flow.id, '*')
    parts.onBug(
      error,
      `putting away ${left}; by hand: git -C ${input.repo.root} worktree remove --force ${left}`,
    )
  })
}

/** What a crew leaves that was stopped by a limit. */
export type Left = {
  readonly branch: string
  readonly tasks: readonly {
    readonly task_id: string
    readonly branch: string
    readonly files: readonly string[]
  }[]
}

/** Takes what those who were stopped had done within their scopes into the branches of their tasks. */
export async function collectLeft(run: CrewRun, signal: AbortSignal): Promise<Left> {
  const tasks = []
  const { branches } = run.parts
  for (const [task_id, { branch, work }] of run.opened) {
    const found = work && (await collectWork(branches, work, signal).catch(passRefusal))
    tasks.push({ task_id, branch, files: found?.files.map(({ path }) => path) ?? [] })
  }
  return { branch: run.branch, tasks }
}
