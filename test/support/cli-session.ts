import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { cliPath, clis } from './clis.ts'
import { type CliName, hermetic } from './hermetic.ts'
import { smProgram } from './programs.ts'
import { startScriptedModel } from './scripted-model/scripted-model.ts'
import { seedOpenCode } from './seed-opencode.ts'
import { eventually, sessionDaemon } from './session-daemon.ts'
import { tempFolder } from './temp-journal.ts'

/** A daemon, the scripted model and one real CLI in a home of its own. */
export async function cliSessions(cli: CliName, options: { version?: string; config?: string } = {}) {
  const model = await startScriptedModel({})
  onTestFinished(() => model.close())
  const home = tempFolder('mc-')
  const own = hermetic(cli, { home, modelUrl: model.url, permissions: 'ask' })
  const program = cliPath(cli, options.version)
  const version = options.version ?? clis.find(({ name }) => name === cli)?.version ?? ''
  if (cli === 'opencode') seedOpenCode(own.env, version)
  const env = { ...own.env, SCRIPTED_KEY: 'test-key' }
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
    m.client.spawnSession({
      agent_type: cli,
      prompt,
      working_dir: own.cwd,
      ...more,
    })
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
  onTestFinished(() => rmSync(join(home, 'tmp'), { recursive: true, force: true }))
  return { ...m, m, model, own, spawn, sm, asked }
}

/** A prompt whose script the model plays. */
export const scripted = (steps: readonly unknown[], before = ''): string =>
  `${before}${before ? '\n' : ''}SCRIPT64:${Buffer.from(JSON.stringify(steps)).toString('base64')}`
