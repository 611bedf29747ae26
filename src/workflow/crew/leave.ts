import type { CrewInput, CrewParts } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'
import { treeOf } from './places.ts'
import { refused } from './refused.ts'

/** So long git may take to put away what a cancelled crew left. */
export const patienceMs = 60_000

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
export async function leave({ parts, input, flow }: Stopped, signal: AbortSignal): Promise<void> {
  const { branches, worktrees } = parts
  const { root } = input.repo
  const all = await branches.worktreesIn(root, worktrees, signal)
  const own = all.filter(({ branch }) => branch?.startsWith(`muster/${flow.id}.`))
  // The branch of the whole crew last: others may be part of it.
  const whole = all.filter(({ branch }) => branch === `muster/${flow.id}`)
  for (const { path, branch } of [...own, ...whole]) {
    await branches.abandonMerge(path, signal).catch(refused)
    await branches.commitAll(path, 'Work in progress when the crew was stopped', signal).catch(refused)
    await branches.closeWorktree(root, path, signal).catch(refused)
    if (branch !== undefined) await branches.dropBranch(root, branch, signal).catch(refused)
  }
}

/** The same after a cancel, once nobody works in them any more; no step of the flow is left to do it in. */
export async function leaveAfterCancel(run: CrewRun): Promise<void> {
  const { parts, flow, input } = run
  await flow.quiet()
  await leave(run, AbortSignal.timeout(patienceMs)).catch((error: unknown) => {
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
export async function salvage(run: CrewRun, signal: AbortSignal): Promise<Left> {
  const tasks = []
  for (const [task_id, { branch, collect }] of run.opened) {
    const found = await collect?.(signal).catch(refused)
    tasks.push({ task_id, branch, files: found?.files.map(({ path }) => path) ?? [] })
  }
  return { branch: run.branch, tasks }
}
