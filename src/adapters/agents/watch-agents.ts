import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

const settleMs = 50
const retryMs = 2000

/**
 * Calls back after agent files in these folders may have changed; the folders may appear, vanish and come back.
 * Watching is in force when this returns, so load after calling it.
 */
export function watchAgents(dirs: readonly string[], onChange: () => void, signal: AbortSignal): void {
  let watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined

  const wake = (delayMs = settleMs) => {
    timer ??= setTimeout(() => {
      timer = undefined
      arm()
      onChange()
    }, delayMs)
  }
  // Armed anew before each callback: a folder may be another one under its old name, and a change
  // that comes later than this wakes us again, so the caller never misses one.
  const arm = () => {
    const old = watchers
    watchers = []
    for (const dir of dirs) if (!watchFolder(dir, { wake, watchers })) wake(retryMs)
    for (const watcher of old) watcher.close()
  }
  const stop = () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
  if (signal.aborted) return
  signal.addEventListener('abort', stop, { once: true })
  arm()
}

type Watching = { readonly wake: (delayMs?: number) => void; readonly watchers: FSWatcher[] }

function watchFolder(dir: string, watching: Watching): boolean {
  const isAgentFile = (name: string) => /\.md$/i.test(name) || name === basename(dir)
  let nearest = watchPath(dir, isAgentFile, watching)
  // A folder does not hear that a parent was renamed and its path now leads to another folder, so parents are watched too.
  let child = dir
  for (let level = 1; dirname(child) !== child && (nearest === 'absent' || level <= 2); level++) {
    const parent = dirname(child)
    const name = basename(child)
    const outcome = watchPath(parent, (changed) => changed === name, watching)
    if (nearest === 'absent') {
      nearest = outcome
      // What was made between the two attempts would be watched by nobody.
      if (outcome === 'watched' && existsSync(child)) return watchFolder(dir, watching)
    }
    child = parent
  }
  return nearest === 'watched'
}

function watchPath(path: string, concerns: (name: string) => boolean, { wake, watchers }: Watching) {
  try {
    const watcher = watch(path, { persistent: false }, (_, name) => {
      if (name === null || concerns(name)) wake()
    })
    watcher.on('error', () => wake(retryMs))
    watchers.push(watcher)
    return 'watched'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent'
    // Out of watches or out of permission: looking again from time to time is all that is left.
    return 'failed'
  }
}
