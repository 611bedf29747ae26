import { setTimeout as sleep } from 'node:timers/promises'
import type { sessionDaemon } from './session-daemon.ts'

type Machine = Pick<
  Awaited<ReturnType<typeof sessionDaemon>>,
  'client' | 'spawnShell' | 'tmux' | 'restart' | 'daemon'
>

/**
 * Starts so many sessions, lets some of them end while the daemon stands still, kills it with SIGKILL, starts it again
 * and counts what it says became of each.
 */
export async function accountFor(
  m: Machine,
  count: number,
  onAccounted: (ms: number) => void = () => {},
): Promise<Record<string, number>> {
  const sessions = []
  for (let i = 0; i < count; i++) sessions.push(await m.spawnShell())
  const dying = sessions.slice(0, Math.floor(count * 0.3))
  m.daemon.process.kill('SIGSTOP')
  for (const { tmux_session } of dying) m.tmux('send-keys', '-t', `=${tmux_session}:`, 'exit 4', 'Enter')
  // tmux tells of an end once a second.
  const dead = () => m.tmux('list-panes', '-a', '-F', '#{pane_dead}').match(/1/g)?.length ?? 0
  for (let i = 0; i < 200 && dead() < dying.length; i++) await sleep(50)
  await m.restart('SIGKILL')
  const ready = performance.now()
  const { sessions: table } = await m.client.restoreSessions({})
  onAccounted(performance.now() - ready)
  const counts: Record<string, number> = {}
  const known = new Set(sessions.map(({ session_id }) => session_id))
  for (const { session_id, result } of table)
    if (known.delete(session_id)) counts[result] = (counts[result] ?? 0) + 1
  if (known.size > 0) counts['missing'] = known.size
  return counts
}
