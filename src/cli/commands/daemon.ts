import { userInfo } from 'node:os'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { Check, Health } from '../../contract/health.ts'
import type { DoctorReport } from '../../contract/offline.ts'
import { version } from '../../contract/version.ts'
import { defineCommands, type View } from '../command-module.ts'
import type { Io } from '../io.ts'
import { plural } from '../render/figures.ts'
import { type Colour, painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { suspectLines } from '../render/session-lines.ts'
import { pad, textWidth, wrap } from '../render/text-width.ts'

/** Starting, stopping and looking at the daemon. */
export const daemonCommands = defineCommands({
  up: {
    run: ({ foreground, replace }, io) =>
      foreground ? inForeground(replace, io) : inBackground(replace, io),
    render: renderUp,
  },
  down: {
    run: async ({ sessions }, io) => (await io.daemon()).stop(sessions ? { sessions } : {}),
    render: renderDown,
  },
  open: {
    run: async ({ print }, io) => {
      const client = await (await io.daemon()).client()
      const { url } = await client.createLoginLink({}, { signal: io.signal })
      const forward = sshForward(url, io.env)
      // A browser at this end of an SSH connection would open where nobody sees it.
      const opened = !print && !io.isJson && forward === undefined && (await openBrowser(url, io.env))
      return { url, opened, ...(forward === undefined ? {} : { forward }) }
    },
    render: ({ url, opened, forward }) =>
      [
        ...(forward === undefined ? [] : [`First, on your own machine: ${forward}`]),
        opened ? `Opened ${new URL(url).origin} in your browser.` : url,
      ].join('\n'),
  },
  doctor: {
    run: async (_input, io) => {
      const [seen, checks] = await Promise.all([askDaemon(io), (await io.offline()).doctor(io.signal)])
      // What both looked at is told once, by the daemon: it sees its own journal from inside.
      const own = checks.filter(({ name }) => seen.checks.every((check) => check.name !== name))
      return { daemon: seen.daemon, checks: [...own, ...seen.checks] }
    },
    render: renderChecks,
    exitCode: ({ checks }) => (checks.some(({ status }) => status === 'failed') ? errorCodes.failed.exit : 0),
  },
})

async function inBackground(replace: boolean, io: Io): Promise<CommandOutput<'up'>> {
  const daemon = await io.daemon()
  if (replace) await daemon.stop()
  const { health, started } = await daemon.start()
  if (health.version !== version) {
    io.say(
      `the running daemon is version ${health.version}, this is ${version}; switch to this one with: sm up --replace`,
    )
  }
  return describe(health, { started, home: daemon.home }, io)
}

async function* inForeground(replace: boolean, io: Io): AsyncGenerator<CommandOutput<'up'>> {
  const daemon = await io.daemon()
  if (replace) await daemon.stop()
  const { runInForeground } = await import('../start-daemon.ts')
  yield* runInForeground(daemon, io, (health) => describe(health, { started: true, home: daemon.home }, io))
}

type Started = Pick<CommandOutput<'up'>, 'started' | 'home'>

function describe(health: Health, { started, home }: Started, io: Io): CommandOutput<'up'> {
  const { url, pid } = health
  for (const what of health.damage ?? []) io.say(`the journal is damaged: ${what}; what to do: sm doctor`)
  const forward = sshForward(url, io.env)
  return {
    url,
    ...(pid !== undefined && { pid }),
    version: health.version,
    home,
    started,
    ...(forward !== undefined && { forward }),
  }
}

const marks = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  failed: ['FAILED', 'red'],
} as const satisfies Record<string, readonly [string, Colour]>

// The doctor never starts a daemon, and one that is ill must not keep the rest from being looked at.
async function askDaemon(io: Io): Promise<DoctorReport> {
  const daemon = await io.daemon()
  const { state } = await daemon.probe()
  if (state === 'slow') return slow
  if (state === 'down') return { daemon: 'stopped', checks: [] }
  try {
    const client = await daemon.running()
    const report = await client?.doctor({}, { signal: io.signal, timeoutMs: 5000 })
    if (client === undefined || report === undefined) return { daemon: 'stopped', checks: [] }
    return { daemon: 'running', checks: [...report.checks, ...(await checkSessions(client, io))] }
  } catch (error) {
    if (error instanceof AppError && error.code === 'timeout') return slow
    throw error
  }
}

// It opens a terminal, asks programs and waits for shells to read their start-up files; only a person may have it done.
async function checkSessions(client: Client, io: Io): Promise<readonly Check[]> {
  try {
    const { checks } = await client.checkSessions({}, { signal: io.signal, timeoutMs: 90_000 })
    return checks
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'timeout') throw error
    const isOurs = error.code === 'denied' || error.code === 'unauthenticated'
    return isOurs ? [] : [{ name: 'sessions', status: 'failed', detail: error.message }]
  }
}

const slow: DoctorReport = {
  daemon: 'slow',
  checks: [
    {
      name: 'daemon',
      status: 'failed',
      detail: 'it accepts connections but does not answer',
      cure: 'wait a moment; if that does not help, restart it with sm up --replace and keep its log',
    },
  ],
}

/** Where the daemon answers, and how to get there from the other end of an SSH connection. */
export function renderUp(
  { url, pid, version: running, started, forward }: CommandOutput<'up'>,
  { color }: View,
): string {
  const paint = painter(color)
  const state = started ? 'is up' : 'was running already'
  return [
    `Muster ${state} at ${paint('cyan', url)} (version ${running}${pid === undefined ? '' : `, pid ${pid}`})`,
    ...(forward === undefined ? [] : [`From your own machine: ${forward}`]),
  ].join('\n')
}

export function renderDown(
  { stopped, killed, suspects }: CommandOutput<'down'>,
  _view: View,
  input: CommandInput<'down'>,
): string {
  if (!stopped)
    return input.sessions
      ? 'The daemon was not running, so no session was ended. Start it with sm up and try again.'
      : 'The daemon was not running.'
  return input.sessions
    ? [`Ended ${plural(killed, 'session')}, then stopped the daemon.`, ...suspectLines(suspects)].join('\n')
    : 'Daemon stopped. Sessions keep running.'
}

/** The doctor's findings: one line each, the cure under what is not well. */
export function renderChecks({ daemon, checks }: DoctorReport, { width, color }: View): string {
  const paint = painter(color)
  const names = checks.map(({ name }) => oneLine(name))
  const nameWidth = Math.max(0, ...names.map(textWidth))
  const indent = 9 + nameWidth + 2
  const lines = checks.flatMap(({ status, detail, cure }, i) => {
    const [word, colour] = marks[status]
    const [first = '', ...rest] = wrap(oneLine(detail), Math.max(20, width - indent))
    return [
      `${paint(colour, pad(word, 7))}  ${pad(names[i] ?? '', nameWidth)}  ${first}`.trimEnd(),
      ...rest.map((line) => `${' '.repeat(indent)}${line}`),
      ...(cure === undefined || status === 'ok'
        ? []
        : wrap(`→ ${oneLine(cure)}`, Math.max(20, width - indent)).map(
            (line) => `${' '.repeat(indent)}${line}`,
          )),
    ]
  })
  const bad = checks.filter(({ status }) => status === 'failed').length
  const doubtful = checks.filter(({ status }) => status === 'warning').length
  const verdict =
    bad + doubtful === 0
      ? 'No problems found'
      : [bad > 0 ? plural(bad, 'failure') : '', doubtful > 0 ? plural(doubtful, 'warning') : '']
          .filter(Boolean)
          .join(', ')
  return [...lines, '', `${verdict}; the daemon is ${daemon}.`].join('\n')
}

/** The line that brings a page to the machine at the other end of this SSH connection; nothing without one. */
export function sshForward(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  // client address, client port, server address, server port
  const [, , host, port] = env['SSH_CONNECTION']?.split(' ') ?? []
  if (host === undefined || port === undefined) return undefined
  const local = new URL(url).port
  const where = port === '22' ? '' : ` -p ${port}`
  return `ssh -L ${local}:127.0.0.1:${local}${where} ${env['USER'] ?? userInfo().username}@${host}`
}

const startsInMs = 1500

/** Asks the desktop to open an address; false when there is no desktop, or no program for it. */
async function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const isMac = process.platform === 'darwin'
  if (!isMac && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return false
  const { spawn } = await import('node:child_process')
  const child = spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true })
  return new Promise((resolve) => {
    // Some openers stay as long as the browser does; one that has not failed by now has worked.
    const timer = setTimeout(() => {
      child.unref()
      resolve(true)
    }, startsInMs)
    const settle = (opened: boolean) => {
      clearTimeout(timer)
      resolve(opened)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
  })
}
