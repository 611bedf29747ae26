import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askProgram, findProgram } from '../adapters/system/run-program.ts'
import type { SessionHost } from '../api/session-host.ts'
import { agentClis, type CodingCliName, codingCliNames } from '../contract/agent-clis.ts'
import { AppError } from '../contract/errors.ts'
import type { Check } from '../contract/health.ts'
import { shortId } from '../contract/ids.ts'
import { linked } from '../contract/linked.ts'
import { version } from '../contract/version.ts'
import { inheritedVariables, sessionEnvironment } from '../core/session/session-environment.ts'
import { release } from '../engine/sessions/launch.ts'
import type { Parts } from '../engine/sessions/session-parts.ts'
import { packageRoot } from './home.ts'

/** Whether sessions can run here: terminals, walls, the CLIs and their logins, and `sm` as an agent would find it. */
export async function checkSessions(host: SessionHost, signal: AbortSignal): Promise<Check[]> {
  let parts: Parts
  try {
    parts = (await host.open()).parts
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [{ name: 'tmux', status: 'failed', detail: error.message, cure: 'without it no session can run' }]
  }
  const [tmux, isolation, ...rest] = await Promise.all([
    askProgram('tmux', ['-V'], { signal }),
    parts.isolation.state(signal),
    ...codingCliNames.map((cli) => cliCheck(parts, cli, signal)),
  ])
  const server = `server ${parts.surroundings.tmuxSocket}`
  return [
    { name: 'tmux', status: 'ok', detail: `${tmux?.stdout.trim() ?? 'unknown'}, ${server}` },
    isolationCheck(parts, isolation),
    ...rest,
    ...(await ownProgramChecks(parts)),
    ...(await probeTerminal(parts, signal)),
  ]
}

function isolationCheck(parts: Parts, state: Awaited<ReturnType<Parts['isolation']['state']>>): Check {
  const { isThere, detail, cure } = state
  if (isThere) return { name: 'isolation', status: 'ok', detail: `${detail} works` }
  const isWanted = parts.config().sessions.isolation === 'bwrap'
  return {
    name: 'isolation',
    status: isWanted ? 'failed' : 'warning',
    detail,
    ...(cure !== undefined && { cure }),
  }
}

function late(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'timeout') return error
  throw error
}

/** A CLI is found, is one that the tests run, and is logged in; what is not there and nobody asked for is no fault. */
async function cliCheck(parts: Parts, name: CodingCliName, signal: AbortSignal): Promise<Check> {
  const { claude, clis: programs } = parts.config()
  const set = name === 'claude' ? claude.default_command : programs[name]?.command
  const command = set ?? name
  const cli = parts.clis[name]
  const version = await cli.version(command, signal).catch(late)
  if (version instanceof AppError) return { name, status: 'warning', detail: version.message }
  if (version === undefined) {
    const setting = name === 'claude' ? 'claude.default_command' : `clis.${name}.command`
    const file = await findProgram(command, parts.surroundings.env['PATH'])
    if (file === undefined && command === name) return { name, status: 'ok', detail: 'not installed' }
    return file === undefined
      ? missing({ name, command, setting })
      : {
          name,
          status: 'failed',
          detail: `${file} does not say its version`,
          cure: `run ${shellQuoted(file)} --version to see why; ${setting} names another`,
        }
  }
  const login = await cli.login(command, signal)
  const said = { in: 'logged in', out: 'not logged in', unknown: 'whether it is logged in is not known' }[
    login.state
  ]
  const { tested = [], package: source } = agentClis[name].npm ?? {}
  const isTested = tested.some((one) => one.version === version)
  const detail = `${version} (${isTested ? 'tested' : 'not tested'}), ${said}`
  if (login.state === 'out') return { name, status: 'warning', detail, cure: login.detail }
  if (isTested) return { name, status: 'ok', detail: `${detail} ${login.detail}` }
  const known = tested.map((one) => one.version).join(', ')
  const cure = `its screens and files may differ from what is known; tested: ${known} (npm install -g ${source}@${tested[0]?.version})`
  return { name, status: 'warning', detail: `${detail} ${login.detail}`, cure }
}

/** The programs of a person's own that the settings name and that are not there. */
async function ownProgramChecks(parts: Parts): Promise<Check[]> {
  const coding: ReadonlySet<string> = new Set(codingCliNames)
  const own = Object.entries(parts.config().clis).filter(([name]) => !coding.has(name))
  const found = await Promise.all(
    own.map(async ([name, { command }]) => {
      const file = await findProgram(command, parts.surroundings.env['PATH'])
      return file === undefined ? [missing({ name, command, setting: `clis.${name}.command` })] : []
    }),
  )
  return found.flat()
}

const missing = ({ name, command, setting }: { name: string; command: string; setting: string }): Check => ({
  name,
  status: 'failed',
  detail: `${command} is not there or cannot be run, but ${setting} names it`,
  cure: `install it, or change ${setting}; sm config show --origin tells where it is set`,
})

const shellQuoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

const patienceMs = 20_000

/** Ways in which agents run a command; start-up files of each can change where `sm` is found. */
const shells = [
  { what: 'sh -c', line: "sh -c 'command -v sm'" },
  { what: 'bash -c', line: "bash -c 'command -v sm'" },
  { what: 'a login bash', line: "bash -lc 'command -v sm'" },
  { what: 'an interactive bash', line: "bash -ic 'command -v sm' 2>/dev/null" },
  { what: 'your login shell', line: `"\${SHELL:-sh}" -lc 'command -v sm'` },
] as const

/** Opens a short terminal as a session would have it, and looks from inside: which `sm` is found, and whether hooks arrive. */
async function probeTerminal(parts: Parts, signal: AbortSignal): Promise<Check[]> {
  const said = await inTerminal(parts, signal)
  const own = join(parts.surroundings.binFolder, 'sm')
  return [
    ...wrongShells(said, own),
    judge({
      name: 'sm in a terminal',
      isFine: said.get('version')?.startsWith(`muster ${version} `) === true,
      fine: `${own}, version ${version}`,
      bad: `it says: ${said.get('version') ?? 'nothing'}`,
      cure: `restart the daemon with: sm up --replace; its sm is ${fileURLToPath(packageRoot())}`,
    }),
    judge({
      name: 'hooks',
      // Without a token the door is shut, and that is the answer of this daemon.
      isFine: said.get('hooks') === '401',
      fine: `${parts.surroundings.hookUrl()} answers inside a terminal`,
      bad: `${parts.surroundings.hookUrl()} inside a terminal: ${said.get('hooks') ?? 'no answer'}`,
      cure: 'check whether a proxy or a firewall blocks 127.0.0.1',
    }),
  ]
}

function wrongShells(said: ReadonlyMap<string, string>, own: string): Check[] {
  return shells.flatMap(({ what }, i): Check[] => {
    const found = said.get(`shell${i}`)
    if (found === own) return []
    const detail =
      found === undefined
        ? `${what} did not answer within ${patienceMs / 1000} s`
        : `${what} finds ${found === '' ? 'no sm' : `${found} first`}, not ${own}`
    return [
      {
        name: 'PATH of sessions',
        status: 'failed',
        detail,
        cure: `a start-up file of that shell replaces PATH; make it keep the old value: PATH="…:$PATH"`,
      },
    ]
  })
}

async function inTerminal(parts: Parts, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const { surroundings, clock, ids } = parts
  const id = ids.session()
  const folder = await parts.folders.open(shortId(id))
  const out = join(folder, 'out')
  const env = sessionEnvironment(
    inheritedVariables(surroundings.env, {
      cli: 'claude',
      allowed: parts.config().sessions.inherit_environment_vars,
    }),
    {
      ...surroundings,
      sessionId: id,
      isolation: 'none',
      depth: 0,
      traceId: ids.trace(),
      spanId: ids.span(),
    },
  )
  using ended = linked(signal)
  let pane: string | undefined
  const unlisten = parts.terminal.listen((event) => {
    if (event.kind === 'exited' && event.pane === pane) ended.abort()
  })
  const request = {
    name: `doctor-${shortId(id)}`,
    owner: id,
    workingDir: folder,
    folder,
    width: 220,
    height: 50,
  }
  const argv = ['sh', '-c', scriptOf(surroundings.hookUrl()), 'doctor', out]
  const opened = await parts.terminal.open({ ...request, env, argv }, signal)
  pane = opened.pane
  try {
    await clock.sleep(patienceMs, ended.signal).catch(() => signal.throwIfAborted())
    return linesOf(await fs.readFile(out, 'utf8').catch(() => ''))
  } finally {
    unlisten()
    const program = { pid: opened.pid, pane: opened, isRunning: true }
    await release(parts, { sessionId: id, program, force: true }, new AbortController().signal)
  }
}

/** What each shell finds is written as soon as it is known: one that hangs keeps nothing back. */
function scriptOf(hookUrl: string): string {
  const ask = `fetch(process.argv[1],{method:'POST',headers:{'content-type':'application/json'},body:'{}'})`
  const told = `${ask}.then((r)=>console.log(r.status),(e)=>console.log(String(e.cause??e)))`
  return [
    'say() { printf "%s=%s\\n" "$1" "$(head -n 1)" >>"$out"; }',
    'out=$1',
    'sm version 2>&1 | say version',
    `'${process.execPath}' -e "${told}" '${hookUrl}/claude' 2>&1 | say hooks`,
    ...shells.map(({ line }, i) => `${line} </dev/null | say shell${i}`),
  ].join('\n')
}

const linesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

type Judged = {
  readonly name: string
  readonly isFine: boolean
  readonly fine: string
  readonly bad: string
  readonly cure: string
}

const judge = ({ name, isFine, fine, bad, cure }: Judged): Check =>
  isFine ? { name, status: 'ok', detail: fine } : { name, status: 'failed', detail: bad, cure }
