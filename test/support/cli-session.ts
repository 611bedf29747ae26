import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startScriptedModel } from '../../src/adapters/models/scripted/scripted-model.ts'
import { cliPath } from './clis.ts'
import { type CliName, hermetic } from './hermetic.ts'
import { sessionDaemon } from './session-daemon.ts'
import { tempFolder } from './temp-journal.ts'

/** A daemon, the scripted model and one real CLI in a home of its own. */
export async function cliSessions(cli: CliName, options: { version?: string; config?: string } = {}) {
  const model = await startScriptedModel({})
  onTestFinished(() => model.close())
  const home = tempFolder('mc-')
  const own = hermetic(cli, { home, modelUrl: model.url, permissions: 'ask' })
  const program = cliPath(cli, options.version)
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
  onTestFinished(() => rmSync(join(home, 'tmp'), { recursive: true, force: true }))
  return { ...m, m, model, own, spawn }
}

/** A prompt whose script the model plays. */
export const scripted = (steps: readonly unknown[], before = ''): string =>
  `${before}${before ? '\n' : ''}SCRIPT64:${Buffer.from(JSON.stringify(steps)).toString('base64')}`
