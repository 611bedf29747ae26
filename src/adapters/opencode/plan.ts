import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppError } from '../../contract/errors.ts'
import { type Foreign, foreignLine, foreignList } from '../../contract/formats/foreign-json.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/run-program.ts'
import { openCodePermissions } from './permissions.ts'
import { openCodePlugin } from './plugin.ts'

/** The plugin, the role and the permissions go in by the environment and lie on top of the user's configuration. */
export async function openCodePlan(request: LaunchRequest): Promise<LaunchPlan> {
  const { command, args, env, folder, prompt, model, role, foreignId, permissionMode } = request
  const isResumed = request.resume && foreignId !== undefined
  // With a session to go on with, the prompt on the command line is dropped without a word.
  const isPromptGiven = prompt !== undefined && !isResumed && fitsArgument(prompt)
  const [plugin, instructions] = [join(folder, 'opencode-plugin.js'), join(folder, 'opencode-role.md')]
  const given = inEnv(env, 'OPENCODE_CONFIG_CONTENT')
  const config = {
    ...given,
    plugin: [...foreignList(given['plugin']), pathToFileURL(plugin).href],
    ...(role?.text && { instructions: [...foreignList(given['instructions']), instructions] }),
  }
  const permissions = {
    ...inEnv(env, 'OPENCODE_PERMISSION'),
    ...openCodePermissions(permissionMode, role?.tools),
  }
  const source = openCodePlugin(`${request.hookUrl}/opencode`, role?.tools !== undefined)
  return {
    argv: [
      command,
      ...(permissionMode === 'plan' ? ['--agent=plan'] : []),
      ...(permissionMode === 'bypass' ? ['--auto'] : []),
      ...(model === undefined ? [] : [`--model=${model}`]),
      ...(isResumed ? [`--session=${foreignId}`] : []),
      ...args,
      ...(isPromptGiven ? [`--prompt=${prompt}`] : []),
    ],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_PERMISSION: JSON.stringify(permissions),
    },
    files: [
      { path: plugin, text: source, mode: 0o600 },
      ...(role?.text ? [{ path: instructions, text: role.text, mode: 0o600 }] : []),
    ],
    isPromptGiven,
    ...(isResumed && { foreignId }),
  }
}

/** What the user has put into a variable stays in it. */
function inEnv(env: LaunchRequest['env'], name: string): Foreign {
  const text = env[name]
  if (text === undefined || text === '') return {}
  const value = foreignLine(text)
  if (value) return value
  throw new AppError(
    'invalid',
    `${name} in the environment is no JSON object; mend or unset it and spawn again`,
  )
}
