import { readFileSync } from 'node:fs'

/** Whether a process still runs; one that ended and was not yet collected by its parent does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

// In a container, the first process may take seconds to collect what was left to it.
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // There is no such file where there is no /proc; one that vanished meanwhile is found gone the next time.
    if (code === 'ENOENT' || code === 'ESRCH') return false
    throw error
  }
}
