import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder for temporary files; its name says whose it is, so that it is found when its process was killed. */
export async function ownTemporary(kind: string): Promise<string> {
  return mkdtemp(join(await realpath(tmpdir()), `muster-${kind}-${process.pid}-`))
}

/** Takes away the folders of processes that are no more. */
export async function removeOrphanedTemporary(): Promise<void> {
  const parent = await realpath(tmpdir())
  for (const name of await readdir(parent)) {
    const pid = /^muster-(?:bash|git|lsp)-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1]
    // Another user's folder stays: it is not ours to remove, and trying does no harm.
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}

/** Whether there is a process of this id, whoever it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
