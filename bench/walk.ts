import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { sessionFiles } from '../src/contract/home.ts'
import { socketName } from '../src/daemon/home.ts'
import { type DaemonProcess, startDaemonProcess } from '../test/support/daemon-process.ts'
import type { Figure } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about =
  'source files in which a function runs for one command, in `sm` and in a warm daemon; --list prints them'

const root = join(import.meta.dirname, '..')
const source = `${pathToFileURL(join(root, 'src')).href}/`
const isListed = process.argv.includes('--list')
/** What follows a command in the daemon, such as rows of the index, is done by then. */
const settleMs = 700
const lookMs = 3000

type Command = {
  readonly name: string
  readonly argv: readonly string[]
  readonly aim: number
  readonly times: number
  /** An agent in a session calls it. */
  readonly isOfAgent?: boolean
}

const commands: readonly Command[] = [
  { name: 'sm checkpoint', argv: ['checkpoint', 'half way (1/2)'], aim: 60, times: 5, isOfAgent: true },
  { name: 'sm spawn', argv: ['spawn', 'claude', 'do it'], aim: 110, times: 5 },
  { name: 'sm demo', argv: ['demo'], aim: 250, times: 1 },
]

/** Everything runs from its sources. Each command runs once before: that loads what the daemon loads late. */
export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const folder = join(home, 'coverage')
    mkdirSync(folder)
    const coverage = { NODE_V8_COVERAGE: folder }
    const hook = pathToFileURL(join(import.meta.dirname, 'support', 'take-coverage.mjs')).href
    const daemon = await startDaemonProcess(home, {
      env: { MUSTER_CONFIG: settings(home), NODE_OPTIONS: `--import ${hook}`, ...coverage },
    })
    try {
      const person = { PATH: process.env['PATH'], HOME: home, MUSTER_HOME: home, NODE_NO_WARNINGS: '1' }
      const agent = { ...person, ...(await inSession(daemon)) }
      const figures: Figure[] = []
      for (const command of commands) {
        const env = { ...(command.isOfAgent ? agent : person), ...coverage }
        await sm(command.argv, env)
        const walked = []
        for (let i = 0; i < command.times; i++) walked.push(await walk(command.argv, { env, daemon, folder }))
        const cli = inAll(walked.map((one) => one.cli))
        const inDaemon = inAll(walked.map((one) => one.inDaemon))
        figures.push(
          count(`${command.name}: files in sm`, cli),
          count(`${command.name}: files in the daemon`, inDaemon),
          count(`${command.name}: files in both (aim: ≤ ${command.aim})`, cli.union(inDaemon)),
        )
        if (isListed) list(command.name, { cli, inDaemon })
      }
      return figures
    } finally {
      await daemon.kill('SIGTERM')
      spawnSync('tmux', ['-L', socketName(home, ''), 'kill-server'])
    }
  })
}

type Place = { readonly env: NodeJS.ProcessEnv; readonly daemon: DaemonProcess; readonly folder: string }
type Files = ReadonlySet<string>

async function walk(
  argv: readonly string[],
  { env, daemon, folder }: Place,
): Promise<{ cli: Files; inDaemon: Files }> {
  await afterLook(daemon, folder)
  const pid = await sm(argv, env)
  const cli = filesRun(folder, reports(folder, pid))
  await sleep(settleMs)
  return { cli, inDaemon: await ranInDaemon(daemon, folder) }
}

/** Terminals are looked at every two seconds, whatever the command: right after that there is time for a command. */
async function afterLook(daemon: DaemonProcess, folder: string): Promise<void> {
  const until = performance.now() + lookMs
  await ranInDaemon(daemon, folder)
  while ((await ranInDaemon(daemon, folder)).size === 0 && performance.now() < until) await sleep(20)
  while ((await ranInDaemon(daemon, folder)).size > 0 && performance.now() < until + lookMs) await sleep(20)
}

/** What only some of the runs have is not the command's. */
const inAll = (all: readonly Files[]): Files => all.reduce((some, one) => some.intersection(one))

const count = (what: string, files: Files): Figure => ({
  what,
  value: files.size,
  unit: 'files',
})

/** A Claude Code that only sits in its terminal, and no other limits. */
function settings(home: string): string {
  const claude = join(home, 'claude')
  writeFileSync(
    claude,
    '#!/bin/sh\n[ "$1" = --version ] && { echo "2.1.325 (Claude Code)"; exit; }\nexec cat\n',
  )
  chmodSync(claude, 0o700)
  const config = join(home, 'config.yaml')
  writeFileSync(config, JSON.stringify({ claude: { default_command: claude } }))
  return config
}

/** What `sm` has around it when an agent calls it. */
async function inSession({ client, home }: DaemonProcess): Promise<NodeJS.ProcessEnv> {
  const { id, session_id } = await client.spawnSession({
    agent_type: 'claude',
    prompt: 'work',
    working_dir: home,
  })
  const token = join(home, sessionFiles.folder, session_id, sessionFiles.token)
  return { MUSTER_SESSION: id, MUSTER_TOKEN: readFileSync(token, 'utf8').trim() }
}

/** Runs a command from its source to its end, and answers its pid. */
function sm(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const program = join(root, 'src/cli/main.ts')
  const child = spawn(process.execPath, [program, ...argv], {
    env,
    cwd: env['HOME'],
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said += String(text)
  })
  return new Promise((resolve, reject) =>
    child.once('close', (code) => {
      if (code === 0) resolve(child.pid ?? 0)
      else reject(new Error(`sm ${argv.join(' ')} ended with ${code}\n${said}`))
    }),
  )
}

/** The files in which the daemon ran a function since it was asked before. */
async function ranInDaemon(daemon: DaemonProcess, folder: string): Promise<Files> {
  const pid = daemon.process.pid ?? 0
  const threads = filesOf(folder, `thread-${pid}-`)
  daemon.process.kill('SIGUSR2')
  while (filesOf(folder, `taken-${pid}-`).length < threads.length) await sleep(20)
  for (const name of filesOf(folder, `taken-${pid}-`)) rmSync(join(folder, name))
  return filesRun(folder, reports(folder, pid))
}

const filesOf = (folder: string, prefix: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith(prefix))
const reports = (folder: string, pid: number): string[] => filesOf(folder, `coverage-${pid}-`)

type Report = {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

/** Source files with a function that ran; that a file was loaded is no function. The reports are used up. */
function filesRun(folder: string, names: readonly string[]): Files {
  const files = new Set<string>()
  for (const name of names) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report
    for (const { url, functions } of result)
      if (url.startsWith(source) && functions.some(hasRun))
        files.add(fileURLToPath(url).slice(root.length + 1))
    rmSync(join(folder, name))
  }
  return files
}

const hasRun = ({ functionName, ranges }: Report['result'][number]['functions'][number]): boolean =>
  !(functionName === '' && ranges[0]?.startOffset === 0) && (ranges[0]?.count ?? 0) > 0

function list(name: string, { cli, inDaemon }: Record<'cli' | 'inDaemon', Files>): void {
  console.log(`  ${name}: s = in sm, d = in the daemon`)
  for (const file of [...cli.union(inDaemon)].toSorted())
    console.log(`    ${cli.has(file) ? 's' : ' '}${inDaemon.has(file) ? 'd' : ' '} ${file}`)
}
