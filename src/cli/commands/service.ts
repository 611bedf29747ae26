import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { printableJson } from '../../contract/terminal-controls.ts'
import { defineCommands } from '../command-module.ts'
import type { Io, Program } from '../io.ts'

/** What runs without a person: the daemon as a service of the user, and the hooks of agents. */
export const serviceCommands = defineCommands({
  'service install': {
    async run(_input, io) {
      const connection = await io.daemon()
      const unit = unitPath(io.env)
      // Asked first: a unit that nothing can start must not be left behind.
      await systemctl(io, 'show-environment')
      await mkdir(dirname(unit), { recursive: true })
      await writeFile(unit, serviceUnit(io.program, connection.home))
      await systemctl(io, 'daemon-reload')
      // The one that runs holds the lock; the service's own takes its place.
      await connection.stop()
      await systemctl(io, 'enable', '--now', unitName)
      return { unit }
    },
    render: ({ unit }) =>
      `Installed ${unit}. Muster starts at login. To start it at boot instead: loginctl enable-linger`,
  },
  'service uninstall': {
    async run(_input, io) {
      const unit = unitPath(io.env)
      await systemctl(io, 'disable', '--now', unitName)
      await rm(unit, { force: true })
      await systemctl(io, 'daemon-reload')
      return { unit }
    },
    render: ({ unit }) => `Removed ${unit}. Sessions keep running; start the daemon again with: sm up`,
  },
  /** Reports a hook and answers it. It never starts a daemon, and without one only a gate says no. */
  hook: {
    async run({ cli, event }, io) {
      const at = io.now()
      const gate = gates.has(event)
      try {
        const client = await (await io.daemon()).running()
        const payload = await readHookPayload(io.signal)
        if (client === undefined) throw new Error('the daemon is not running')
        return await client.runHook(
          { cli: cli as 'claude', at, payload: { hook_event_name: event, ...payload } },
          { signal: io.signal, timeoutMs: 24 * 60 * 60 * 1000 },
        )
      } catch (error) {
        io.signal.throwIfAborted()
        if (!gate) return { body: '', exit_code: 0 }
        io.say(`${noAnswer} (${error instanceof Error ? error.message : String(error)})`)
        return { body: '', exit_code: refused }
      }
    },
    render: ({ body }) => printableJson(body),
    exitCode: ({ exit_code }) => exit_code,
  },
})

const noAnswer = 'Muster did not answer, so this tool was not run. You may try again.'
/** A CLI takes this exit code for a refusal; every other failure lets the tool run. */
const refused = 2

/** Hooks that decide whether a tool runs: for them no answer is a refusal. */
const gates = new Set(['gate', 'PreToolUse', 'BeforeTool'])

/** The name of the systemd user unit. */
const unitName = 'muster.service'

/**
 * The unit. Only the daemon's own process is ended with it: terminals and agents belong to nobody's
 * service and must survive its restart.
 */
export function serviceUnit({ node, entry }: Program, home: string): string {
  return `[Unit]
Description=Muster, a crew of coding agents
After=default.target

[Service]
Type=simple
ExecStart=${word(node)} ${word(entry)} up --foreground
Environment=${word(`MUSTER_HOME=${home}`)}
Restart=on-failure
RestartSec=2
KillMode=process

[Install]
WantedBy=default.target
`
}

/** A word of a unit file: quoted, with what systemd would expand taken literally. */
const word = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`

/** Where systemd looks for units of this user. */
function unitPath(env: Readonly<Record<string, string | undefined>>): string {
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config')
  return join(config, 'systemd', 'user', unitName)
}

/** Asks the user's systemd; where there is none, says so. */
async function systemctl(io: Io, ...args: string[]): Promise<void> {
  // Loaded only here: hooks of agents run through this file many times a minute.
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')])
  try {
    await promisify(execFile)('systemctl', ['--user', ...args], {
      env: io.env as NodeJS.ProcessEnv,
      signal: io.signal,
    })
  } catch (cause) {
    io.signal.throwIfAborted()
    const { code, stderr = '' } = cause as { code?: string | number; stderr?: string }
    const why = code === 'ENOENT' ? 'there is no systemctl' : stderr.trim() || String(cause)
    throw new AppError(
      'unavailable',
      `systemd does not answer (${why}); start Muster at login yourself with: sm up`,
      { cause },
    )
  }
}

const mostBytes = 15 * 1024 * 1024

/** The payload of a hook: one JSON value on stdin. Some CLIs leave stdin open, so the first whole value is enough. */
async function readHookPayload(signal: AbortSignal): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of process.stdin.setEncoding('utf8')) {
    signal.throwIfAborted()
    text += String(piece)
    if (text.length > mostBytes) break
    const value = text.includes('\n') || text.trimEnd().endsWith('}') ? parsed(text) : undefined
    if (value !== undefined) return value
  }
  return parsed(text) ?? {}
}

function parsed(text: string): Record<string, unknown> | undefined {
  const value = foreignJson(text)
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}
