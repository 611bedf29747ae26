import { askProgram } from '../../adapters/system/ask-program.ts'
import { type CodingCliName, codingCliNames } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'
import type { Check } from '../../contract/health.ts'
import type { Parts } from '../../engine/sessions/parts.ts'
import { probeTerminal } from './probe-terminal.ts'
import type { SessionHost } from './session-host.ts'

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

async function cliCheck(parts: Parts, name: CodingCliName, signal: AbortSignal): Promise<Check> {
  const { claude, clis: programs } = parts.config()
  const command = name === 'claude' ? claude.default_command : (programs[name]?.command ?? name)
  const cli = parts.clis[name]
  const version = await cli.version(command, signal)
  if (version === undefined) return { name, status: 'ok', detail: 'not installed' }
  const login = await cli.login(command, signal)
  const said = { in: 'logged in', out: 'not logged in', unknown: 'its login is not known' }[login.state]
  return login.state === 'out'
    ? { name, status: 'warning', detail: `${version}, ${said}`, cure: login.detail }
    : { name, status: 'ok', detail: `${version}, ${said} ${login.detail}` }
}
