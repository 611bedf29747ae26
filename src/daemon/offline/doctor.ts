import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { installCommand } from '../../adapters/system/install-command.ts'
import type { ChooseWorkers } from '../../api/worker-choices.ts'
import type { Check } from '../../contract/health.ts'
import { answererCheck } from '../answerer-check.ts'
import { homeFiles } from '../home.ts'
import { journalCheck } from './journal.ts'
import { savedTrust } from './saved-trust.ts'

const run = promisify(execFile)
const lowDiskBytes = 1 << 30

/** What can be seen without a daemon: folders, rights, space, and the programs Muster works with. */
export async function doctorChecks(
  { home, choose }: { readonly home: string; readonly choose: ChooseWorkers },
  signal: AbortSignal,
): Promise<Check[]> {
  return [
    folderCheck(home),
    privateCheck(home),
    diskCheck(home),
    await journalCheck(homeFiles(home)),
    ...(await trustChecks(homeFiles(home).trust)),
    await toolCheck({ name: 'git', args: ['--version'], cure: installCommand('git') }, signal),
    await toolCheck(
      { name: 'tmux', args: ['-V'], cure: `${installCommand('tmux')}, to run agents in terminals` },
      signal,
    ),
    await answererCheck(choose, signal),
  ]
}

function folderCheck(home: string): Check {
  if (!existsSync(home))
    return { name: 'state folder', status: 'ok', detail: `${home} (created by the first sm up)` }
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
    return { name: 'state folder', status: 'ok', detail: home }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return {
      name: 'state folder',
      status: 'failed',
      detail: `${home} cannot be written by this user (${code})`,
      cure: `fix its owner or permissions with chown or chmod, or set MUSTER_HOME to another folder`,
    }
  }
}

function privateCheck(home: string): Check {
  const files = homeFiles(home)
  const open = [home, files.journal, files.operatorToken, files.vaultKey].filter((path) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat !== undefined && (stat.mode & 0o077) !== 0
  })
  return open.length === 0
    ? { name: 'private files', status: 'ok', detail: 'readable only by this user' }
    : {
        name: 'private files',
        status: 'failed',
        detail: `others can read ${open.join(', ')}`,
        cure: `chmod go= ${open.join(' ')}`,
      }
}

function diskCheck(home: string): Check {
  let at = home
  while (!existsSync(at)) at = dirname(at)
  const stats = statfsSync(at)
  const free = stats.bavail * stats.bsize
  const detail = `${Math.round(free / 1e6)} MB free`
  return free < lowDiskBytes
    ? { name: 'disk', status: 'warning', detail, cure: 'free some disk space' }
    : { name: 'disk', status: 'ok', detail }
}

/** Only where somebody trusts a project there is something to say. */
async function trustChecks(file: string): Promise<Check[]> {
  const projects = await savedTrust(file)
  if (projects.length === 0) return []
  const ended = projects.flatMap(({ root, files }) =>
    files.filter(({ hasEnded }) => hasEnded).map((one) => `${root}/${one.file}`),
  )
  const name = 'trusted projects'
  return ended.length === 0
    ? [{ name, status: 'ok', detail: `${projects.length}` }]
    : [
        {
          name,
          status: 'warning',
          detail: `held back, because they changed: ${ended.join(', ')}`,
          cure: 'look at them and run sm trust in the project',
        },
      ]
}

async function toolCheck(
  { name, args, cure }: { name: string; args: string[]; cure: string },
  signal: AbortSignal,
): Promise<Check> {
  try {
    const { stdout } = await run(name, args, { signal, timeout: 5000 })
    return { name, status: 'ok', detail: stdout.trim() }
  } catch (error) {
    if (signal.aborted) throw error
    return { name, status: 'warning', detail: 'not found on PATH', cure }
  }
}
