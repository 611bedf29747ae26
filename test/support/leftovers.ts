import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** All that sessions could leave behind on a machine; each list is empty when nothing was left. */
export type Leftovers = {
  readonly processes: readonly string[]
  readonly terminals: readonly string[]
  readonly folders: readonly string[]
  readonly grants: readonly string[]
  readonly vault: readonly string[]
  readonly files: readonly string[]
}

/** Where to look: the state folder, its tmux server, the folder for temporary files, and a tag in arguments. */
export type Scene = {
  readonly home: string
  readonly socket: string
  readonly temporary: string
  readonly tag: string
}

/** Looks with means of its own, not with those under test. */
export function leftovers({ home, socket, temporary, tag }: Scene): Leftovers {
  return {
    processes: processesWith(tag, home),
    terminals: terminalsOf(socket),
    folders: namesIn(join(home, 'sessions')),
    grants: grantsOf(home),
    vault: namesIn(join(home, 'vault')).filter(
      (owner) => !existsSync(join(home, 'vault', owner, 'released')),
    ),
    files: [
      ...namesIn(temporary).map((name) => join(temporary, name)),
      ...namesIn(join(home, 'tmux')).filter((name) => name !== 'tmux.conf'),
      ...namesIn(home).filter((name) => name.endsWith('.new')),
    ],
  }
}

export const isClean = (left: Leftovers): boolean => Object.values(left).every((list) => list.length === 0)

/** Living processes that carry the tag in their arguments or the mark of a session of this home. */
function processesWith(tag: string, home: string): string[] {
  return namesIn('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    const command = readIfThere(`/proc/${pid}/cmdline`)
    const environment = readIfThere(`/proc/${pid}/environ`).split('\0')
    const isMarked =
      environment.includes(`MUSTER_HOME=${home}`) &&
      environment.some((pair) => pair.startsWith('MUSTER_SESSION='))
    // What has ended and waits for its parent to notice has no arguments any more.
    if (command === '' || !(isMarked || command.includes(tag))) return []
    return [`${pid} ${command.replaceAll('\0', ' ').trim()}`]
  })
}

function terminalsOf(socket: string): string[] {
  const { stdout } = spawnSync('tmux', ['-L', socket, 'list-sessions', '-F', '#{session_name}'], {
    encoding: 'utf8',
  })
  const clients = execClients(socket)
  return [
    ...stdout.split('\n').filter((name) => name !== '' && name !== 'muster-anchor'),
    ...clients.slice(1).map((client) => `client ${client}`),
  ]
}

function execClients(socket: string): string[] {
  try {
    const args = ['-L', socket, 'list-clients', '-F', '#{client_pid} #{client_termname}']
    return execFileSync('tmux', args, { encoding: 'utf8', stdio: 'pipe' }).split('\n').filter(Boolean)
  } catch {
    // There is no server at all.
    return []
  }
}

function grantsOf(home: string): string[] {
  const text = readIfThere(join(home, 'grants.json'))
  const grants = text === '' ? [] : (JSON.parse(text) as { sessionId?: string }[])
  return grants.flatMap(({ sessionId }) => sessionId ?? [])
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
