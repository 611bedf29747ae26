import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AppError } from '../../contract/errors.ts'
import { type Foreign, foreignLine, foreignList } from '../../contract/formats/foreign-json.ts'
import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/run-program.ts'
import { openCodePlugin } from './opencode-plugin.ts'

/** The plugin, the role and the permissions go in by the environment and lie on top of the user's configuration. */
export async function openCodePlan(request: LaunchRequest): Promise<LaunchPlan> {
  const { command, args, env, folder, prompt, model, role, foreignId, permissionMode } = request
  const isResumed = request.resume && foreignId !== undefined
  // When a session is resumed, the prompt on the command line is dropped silently.
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
    `${name} in the environment is not a JSON object; fix or unset it and spawn again`,
  )
}

/** What OpenCode does when a tool of this permission is called; what is not named stays as the user has it. */
type OpenCodePermissions = Readonly<Record<string, 'ask' | 'allow' | 'deny'>>

/**
 * OpenCode lets nearly everything run unless told otherwise, so asking is turned on. `plan` is a separate
 * agent that edits nothing, and `bypass` a flag; neither changes what the user has denied.
 */
const modes: Readonly<Record<PermissionMode, OpenCodePermissions>> = {
  manual: { edit: 'ask', bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  acceptEdits: { edit: 'allow', bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  plan: { bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  bypass: {},
}

/** Which tools of a role need a permission. */
const needs: Readonly<Record<string, readonly string[]>> = {
  read: ['Read'],
  edit: ['Edit', 'Write', 'MultiEdit'],
  bash: ['Bash'],
  glob: ['Glob'],
  list: ['Glob'],
  grep: ['Grep'],
  lsp: ['LSP'],
  task: ['Task', 'Agent'],
  skill: ['Skill'],
  webfetch: ['WebFetch'],
  websearch: ['WebSearch'],
  codesearch: ['WebSearch'],
  todowrite: ['TodoWrite'],
  todoread: ['TodoWrite'],
  question: ['AskUserQuestion'],
  plan_enter: ['EnterPlanMode'],
  plan_exit: ['ExitPlanMode'],
}

/** The permissions of a session. A role's limits hold here too, where neither the plugin nor the daemon is needed. */
function openCodePermissions(mode: PermissionMode, tools?: readonly string[]): OpenCodePermissions {
  if (!tools) return modes[mode]
  const denied = Object.entries(needs).filter(([, names]) => !names.some((name) => tools.includes(name)))
  return {
    ...modes[mode],
    ...Object.fromEntries(denied.map(([permission]) => [permission, 'deny' as const])),
  }
}
