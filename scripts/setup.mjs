// Plain JavaScript for Node 18 and later: it runs before the project's own Node is there.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** The project's own Node, whatever the machine has. */
export const node24 = join(root, 'node_modules', 'node', 'bin', 'node')

const stamp = join(root, 'node_modules', '.muster-setup')
const lock = join(root, '.muster-setup')

/** Installs what package-lock.json names, unless it is there already; answers whether it had to. */
export function install() {
  const key = setupKey()
  if (isStamped(key)) return false
  return withLock(() => {
    if (isStamped(key)) return false
    const isNeeded = !fitsLockfile()
    if (isNeeded) runInstall()
    writeFileSync(stamp, key)
    return isNeeded
  })
}

/** Bundles `sm` and the daemon into dist. */
export function build() {
  say('building')
  const done = spawnSync(node24, [join(root, 'scripts', 'build.ts')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (done.status !== 0) throw new Error('the build failed; its output is above')
}

export function say(message) {
  process.stderr.write(`muster: ${message}\n`)
}

/** Runs a script's main part; an expected failure is one line and exit 1, not a stack. */
export async function main(run) {
  try {
    process.exitCode = (await run()) ?? 0
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

export function isMain(url) {
  return process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url)
}

// A lockfile installed on one platform does not fit another: a shared folder, a container.
function setupKey() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  return `${hash.digest('hex')} ${process.platform} ${process.arch}\n`
}

function isStamped(key) {
  return existsSync(node24) && existsSync(stamp) && readFileSync(stamp, 'utf8') === key
}

function packagesOf(lockfile) {
  return JSON.parse(readFileSync(join(root, lockfile), 'utf8')).packages
}

// Someone may have run npm by hand: then everything is there, and only our stamp is missing.
function fitsLockfile() {
  const installed = join('node_modules', '.package-lock.json')
  if (!existsSync(node24) || !existsSync(join(root, installed))) return false
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf(installed)
  const differs = (path) => present[path]?.version !== wanted[path]?.version
  return (
    spawnSync(node24, ['--version']).status === 0 &&
    Object.keys(present).every((path) => !differs(path)) &&
    Object.keys(wanted).every((path) => path === '' || wanted[path].optional || !differs(path))
  )
}

function runInstall() {
  say('installing packages (once; a minute or less)')
  const quietly = ['--no-audit', '--no-fund', '--loglevel=error']
  // A lockfile written behind a registry that serves one platform only lacks the others, and npm ci refuses it.
  npm(isComplete(packagesOf('package-lock.json')) ? ['ci', ...quietly] : ['install', '--no-save', ...quietly])
  // Where npm holds install scripts back, the package of Node is there without its binary.
  if (!existsSync(node24)) npm(['rebuild', 'node', '--loglevel=error'])
  if (!existsSync(node24))
    throw new Error("npm did not install the project's Node; try: npm ci --foreground-scripts")
}

function isComplete(packages) {
  const names = new Set(
    Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)),
  )
  return Object.values(packages)
    .flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    .every((name) => names.has(name))
}

function npm(args) {
  // npm replaces node_modules, so it must not run on a Node that lies in it.
  const inside = join(root, 'node_modules')
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(inside))
  const env = { ...process.env, PATH: path.join(delimiter) }
  const done = spawnSync('npm', args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (done.error)
    throw new Error(`npm could not be started (${done.error.message}); install Node with npm first`)
  if (done.status !== 0) throw new Error(`npm ${args[0]} failed; its output is above`)
}

// Two first starts at once would delete each other's node_modules.
function withLock(work) {
  const deadline = Date.now() + 10 * 60_000
  for (let isSaid = false; !tryLock(); ) {
    if (Date.now() > deadline)
      throw new Error(`another setup has held ${lock} for ten minutes; if none is running, delete it`)
    if (!isSaid) say('waiting for another setup in this checkout')
    isSaid = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function tryLock() {
  try {
    mkdirSync(lock)
    writeFileSync(join(lock, 'pid'), String(process.pid))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (isAbandoned()) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

function isAbandoned() {
  try {
    process.kill(Number(readFileSync(join(lock, 'pid'), 'utf8')), 0)
    return false
  } catch (error) {
    if (error.code === 'ESRCH') return true
    if (error.code === 'EPERM') return false
    // Between making the folder and writing the pid there is a moment; an old empty lock is a crash in it.
    return error.code === 'ENOENT' && existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 5000
  }
}

if (isMain(import.meta.url)) {
  await main(() => {
    install()
    build()
  })
}
