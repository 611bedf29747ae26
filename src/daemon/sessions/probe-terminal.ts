import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check } from '../../contract/health.ts'
import { shortId } from '../../contract/ids.ts'
import { linked } from '../../contract/linked.ts'
import { version } from '../../contract/version.ts'
import { inheritedVariables, sessionEnvironment } from '../../core/session/session-environment.ts'
import type { Parts } from '../../engine/sessions/parts.ts'
import { release } from '../../engine/sessions/release.ts'
import { packageRoot } from '../package-root.ts'

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
export async function probeTerminal(parts: Parts, signal: AbortSignal): Promise<Check[]> {
  const said = await inTerminal(parts, signal)
  const own = join(parts.surroundings.binFolder, 'sm')
  return [
    ...wrongShells(said, own),
    judge({
      name: 'sm in a terminal',
      isFine: said.get('version')?.startsWith(`muster ${version} `) === true,
      fine: `${own}, version ${version}`,
      bad: `it says: ${said.get('version') ?? 'nothing'}`,
      cure: `start the daemon again with: sm up --replace; its sm is ${fileURLToPath(packageRoot())}`,
    }),
    judge({
      name: 'hooks',
      // Without a token the door is shut, and that is the answer of this daemon.
      isFine: said.get('hooks') === '401',
      fine: `${parts.surroundings.hookUrl()} answers inside a terminal`,
      bad: `${parts.surroundings.hookUrl()} inside a terminal: ${said.get('hooks') ?? 'no answer'}`,
      cure: 'see whether a proxy or a firewall stands before 127.0.0.1',
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
        cure: `a start-up file of that shell sets the PATH anew; let it keep what was there: PATH="…:$PATH"`,
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
