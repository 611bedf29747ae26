// Installs pinned coding CLIs for the tests that run them: npm run clis -- [NAME | NAME@VERSION ...]
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { agentClis } from '../src/contract/agent-clis.ts'
import { isMain, main, root, say } from './setup.mjs'

/** Every CLI and version that the tests run. The first of a name is its default. */
export const pins = Object.entries(agentClis).flatMap(([name, { npm }]) =>
  (npm?.tested ?? []).map((tested) => ({ name, package: npm.package, ...tested })),
)

/** Where they are: outside the checkout, so that all checkouts share them and none can commit them. */
export function clisFolder(env = process.env) {
  if (env.MUSTER_CLIS) return resolve(env.MUSTER_CLIS)
  const cache = env.XDG_CACHE_HOME
  return join(cache && isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'muster', 'clis')
}

/** The executable of one pin, or undefined when its installation is missing or was not finished. */
export function executableOf(pin, folder = clisFolder()) {
  const home = join(folder, folderName(pin))
  const executable = join(home, 'node_modules', '.bin', pin.name)
  return existsSync(join(home, marker)) && existsSync(executable) ? executable : undefined
}

const marker = 'complete'
const firstRun = 'first-run'
const folderName = ({ name, version }) => `${name}-${version}`
const label = ({ name, version }) => `${name} ${version}`

function installAll(names) {
  const wanted = choose(names)
  const folder = clisFolder()
  const missing = wanted.filter((pin) => executableOf(pin, folder) === undefined)
  const gigabytes = (list) => (list.reduce((sum, { mb }) => sum + mb, 0) / 1000).toFixed(1)
  say(`coding CLIs in ${folder}; together they take about ${gigabytes(wanted)} GB`)
  if (missing.length === 0) say('all of them are installed')
  else say(`missing: ${missing.map(label).join(', ')} (about ${gigabytes(missing)} GB)`)

  mkdirSync(folder, { recursive: true })
  removeAbandoned(folder)
  const failed = wanted.filter((pin) => !report(pin, folder))
  if (failed.length === 0) return 0
  say(`failed: ${failed.map(label).join(', ')}; the output of npm is above`)
  return 1
}

function choose(names) {
  const fits = (pin, name) => name === pin.name || name === `${pin.name}@${pin.version}`
  const unknown = names.filter((name) => !pins.some((pin) => fits(pin, name)))
  if (unknown.length > 0)
    throw new Error(
      `no CLI ${unknown.join(', ')}; there are ${pins.map((pin) => `${pin.name}@${pin.version}`).join(', ')}`,
    )
  return names.length === 0 ? pins : pins.filter((pin) => names.some((name) => fits(pin, name)))
}

/** Installs one if needed and prints its line; answers whether it can be used. */
function report(pin, folder) {
  try {
    const isThere = executableOf(pin, folder) !== undefined
    const version = isThere ? versionOf(pin, executableOf(pin, folder)) : installOne(pin, folder)
    process.stdout.write(`${label(pin).padEnd(18)} ${executableOf(pin, folder)}  ${version}\n`)
    return true
  } catch (error) {
    say(`${label(pin)}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** Installs beside the final place and moves it there whole: two runs at once do not spoil each other's. */
function installOne(pin, folder) {
  say(`installing ${label(pin)}`)
  const partial = join(folder, `.${folderName(pin)}.${process.pid}`)
  rmSync(partial, { recursive: true, force: true })
  try {
    mkdirSync(partial)
    const manifest = {
      private: true,
      dependencies: { [pin.package]: pin.version },
      allowScripts: { [pin.package]: true },
    }
    writeFileSync(join(partial, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    npmInstall(partial)
    rmSync(join(partial, firstRun), { recursive: true, force: true })
    const version = versionOf(pin, join(partial, 'node_modules', '.bin', pin.name))
    writeFileSync(join(partial, marker), `${version}\n`)
    moveInto(partial, pin, folder)
    return version
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

function moveInto(partial, pin, folder) {
  const home = join(folder, folderName(pin))
  if (executableOf(pin, folder) !== undefined) return
  rmSync(home, { recursive: true, force: true })
  try {
    renameSync(partial, home)
  } catch (error) {
    // Another run was faster by a moment, and its installation is as good as this one.
    if (executableOf(pin, folder) === undefined) throw error
  }
}

function npmInstall(folder) {
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error']
  // What an installation gets must not depend on whether npm runs on the checkout's Node or the machine's.
  const inside = join(root, 'node_modules')
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.startsWith(inside))
  const { npm_config_local_prefix: _ofThisCheckout, ...env } = process.env
  const done = spawnSync('npm', args, {
    cwd: folder,
    env: { ...env, ...ownFolders(join(folder, firstRun)), PATH: path.join(delimiter) },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 15 * 60_000,
  })
  if (done.error) throw new Error(`npm did not finish (${done.error.message})`)
  if (done.status !== 0) throw new Error(`npm install ended with ${done.status ?? done.signal}`)
}

/** An install script may start the program, which then makes its folders: not in the user's home. */
const ownFolders = (folder) => ({
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_DATA_HOME: join(folder, 'data'),
  XDG_STATE_HOME: join(folder, 'state'),
  XDG_CACHE_HOME: join(folder, 'cache'),
})

/** Asks the program itself, in a home of its own: a stub left by a held-back install script is found here. */
function versionOf(pin, executable) {
  const home = mkdtempSync(join(tmpdir(), 'muster-cli-'))
  try {
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      CODEX_HOME: home,
      PI_OFFLINE: '1',
    }
    const done = spawnSync(executable, ['--version'], { env, cwd: home, encoding: 'utf8', timeout: 60_000 })
    const said = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim()
    if (done.error) throw new Error(`${executable} does not start (${done.error.message})`)
    if (done.status !== 0 || !said.includes(pin.version))
      throw new Error(
        `${executable} --version says ${JSON.stringify(said.slice(0, 200))}, not ${pin.version}; were install scripts held back?`,
      )
    return said.split('\n').find((line) => line.includes(pin.version))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** A run that was killed leaves a few hundred megabytes behind; its process id is in the name. */
function removeAbandoned(folder) {
  for (const name of readdirSync(folder)) {
    const pid = /^\..+\.(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(folder, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

if (isMain(import.meta.url)) await main(() => installAll(process.argv.slice(2)))
