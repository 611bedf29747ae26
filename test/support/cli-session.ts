import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { agentCliAdapters } from '../../src/daemon/agent-cli-adapters.ts'
import { cliPath, clis } from './clis.ts'
import { readPane } from './delivery/person.ts'
import { type CliName, hermetic } from './hermetic.ts'
import { smProgram } from './programs.ts'
import { startScriptedModel } from './scripted-model/scripted-model.ts'
import { seedOpenCode } from './seed-opencode.ts'
import { eventually, sessionDaemon } from './session-daemon.ts'
import { tempFolder } from './temp-journal.ts'

/** A daemon, the scripted model and one real CLI in a home of its own. */
export async function cliSessions(
  cli: CliName,
  options: { version?: string; config?: string; env?: Readonly<Record<string, string>>; model?: string } = {},
) {
  const model = await startScriptedModel({})
  onTestFinished(() => model.close())
  const home = tempFolder('mc-')
  const own = hermetic(cli, {
    home,
    modelUrl: model.url,
    permissions: 'ask',
    ...(options.model && { model: options.model }),
  })
  const program = cliPath(cli, options.version)
  const version = options.version ?? clis.find(({ name }) => name === cli)?.version ?? ''
  if (cli === 'opencode') seedOpenCode(own.env, version)
  const env = { ...own.env, SCRIPTED_KEY: 'test-key', ...options.env }
  const inherited = Object.keys(env).filter((name) => !['PATH', 'HOME', 'TERM'].includes(name))
  const m = await sessionDaemon({
    env,
    config: `claude:
  default_command: ${JSON.stringify(cli === 'claude' ? program : 'claude')}
clis:
  shell: { command: bash }
${cli === 'claude' ? '' : `  ${cli}: { command: ${JSON.stringify(program)}, args: ${JSON.stringify(cli === 'gemini' ? ['-m', 'gemini-2.5-pro'] : cli === 'pi' ? own.args : [])} }\n`}sessions:
  inherit_environment_vars: ${JSON.stringify(['PATH', ...inherited])}
${options.config ?? ''}`,
  })
  const spawn = (prompt: string, more: Record<string, unknown> = {}) =>
    m.client.spawnSession(
      { agent_type: cli, prompt, working_dir: own.cwd, ...more },
      // It asks the CLI for its version first, which takes a large program long where many are started.
      { timeoutMs: 240_000 },
    )
  /** `sm` as a person types it; its output, and its exit code. */
  const sm = async (...args: string[]) => {
    const run = promisify(execFile)
    const given = { env: { ...process.env, MUSTER_HOME: m.home } }
    return run(process.execPath, [smProgram, ...args], given).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
    )
  }
  /** Waits until a session asks for this, and answers the approval. */
  const asked = async (action: string) => {
    const { approvals } = await eventually(
      () => m.client.listApprovals({}),
      (found) => found.approvals.some((one) => one.action.includes(action)),
    )
    const [found] = approvals.filter((one) => one.action.includes(action))
    if (!found) throw new Error(`nothing asks for ${action}`)
    return found
  }
  const { dialect } = agentCliAdapters(own.env)[cli]
  /** What a session's terminal shows. */
  const look = (terminal: string) => readPane(m.socket, terminal, { dialect, version })
  /** Presses keys as a person does: again after some seconds, as long as nothing shows that they were noticed. */
  const press = async (terminal: string, keys: readonly string[], isNoticed: () => boolean) => {
    let pressedAt = Number.NEGATIVE_INFINITY
    await eventually(
      async () => {
        if (isNoticed()) return true
        if (performance.now() - pressedAt > 3000) {
          m.tmux('send-keys', '-t', `=${terminal}:`, ...keys)
          pressedAt = performance.now()
        }
        return false
      },
      (isDone) => isDone,
    )
  }
  /** Types a line and sends it. */
  const typeLine = async (terminal: string, line: string) => {
    const shown = () => {
      const { composer } = look(terminal)
      return composer.state === 'text' ? composer.text : ''
    }
    m.tmux('send-keys', '-t', `=${terminal}:`, '-l', line)
    await eventually(
      async () => shown().replaceAll(/\s/g, ''),
      (text) => text.includes(line.replaceAll(/\s/g, '')),
    )
    // Enter that comes in one go with the text would be part of it, and a menu that opens has to know the whole word.
    await sleep(1000)
    await press(terminal, ['Enter'], () => shown() === '')
  }
  onTestFinished(() => rmSync(join(home, 'tmp'), { recursive: true, force: true }))
  return { ...m, m, model, own, spawn, sm, asked, look, press, typeLine, dialect }
}

/** A prompt whose script the model plays. */
export const scripted = (steps: readonly unknown[], before = ''): string =>
  `${before}${before ? '\n' : ''}SCRIPT64:${Buffer.from(JSON.stringify(steps)).toString('base64')}`
