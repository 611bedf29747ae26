// Programs that the tests use and npm cannot bring: installed where this user may, named where not.
import { spawnSync } from 'node:child_process'
import { say } from './setup.mjs'

const packages = { tmux: 'tmux', git: 'git', ps: 'procps', bwrap: 'bubblewrap' }

/** Makes sure that the programs are there; answers those that are still missing. */
export function programs(wanted = Object.keys(packages)) {
  const missing = () => wanted.filter((name) => !isThere(name))
  if (missing().length === 0) return []
  const names = missing().map((name) => packages[name])
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    say(`installing ${names.join(', ')} with apt-get`)
    apt(['update', '-qq'])
    apt(['install', '-y', '-qq', ...names])
  }
  for (const name of missing()) say(`${packages[name]} is missing; its tests will fail until it is installed`)
  return missing()
}

const isThere = (name) => spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0

const apt = (args) =>
  spawnSync('apt-get', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
