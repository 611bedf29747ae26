import type { SpawnedView } from '../../contract/session-views.ts'
import { painter } from './paint.ts'
import { titleOf } from './session-line.ts'
import { shellQuote } from './shell-quote.ts'

/** What was started and how to see it, or what would have been. */
export function renderSpawned(spawned: SpawnedView, { color }: { readonly color: boolean }): string {
  const paint = painter(color)
  const { tmux_session, attach, dry_run, permission_mode, worktree } = spawned
  const isBypass = permission_mode === 'bypass'
  if (dry_run === null) {
    const note = isBypass ? ` ${paint('red', '(asks for nothing: permission mode bypass)')}` : ''
    return [
      `Spawned ${titleOf(spawned)} in tmux session ${tmux_session}`,
      ...(worktree === null ? [] : [`Work tree: ${worktree.path} on branch ${worktree.branch}`]),
      `Attach with: ${attach}${note}`,
    ].join('\n')
  }
  const rows = [
    ['command', shellQuote(dry_run.argv)],
    ['folder', spawned.working_dir],
    ...(worktree === null ? [] : [['branch', `${worktree.branch}, in a work tree of its own`] as const]),
    ['parent', spawned.parent_session_id ?? 'none'],
    ['cli', spawned.cli],
    ['model', spawned.model ?? 'its own default'],
    ['permissions', isBypass ? paint('red', permission_mode) : permission_mode],
    ['isolation', spawned.isolation],
    ['environment', dry_run.environment.join(' ')],
  ] as const
  return [
    `Nothing was started. It would be ${titleOf(spawned)} in tmux session ${tmux_session}`,
    ...rows.map(([term, text]) => `  ${term.padEnd(11)}  ${text}`),
  ].join('\n')
}
