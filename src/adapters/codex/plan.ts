import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/run-program.ts'
import { codexHooks } from './hooks.ts'
import { type Toml, toml } from './toml.ts'

/**
 * Codex asks by sandbox: what the sandbox forbids is asked for. `manual` forbids every change, `acceptEdits` those
 * outside the folder, and `plan` forbids every change and asks nothing; its own Plan mode cannot be set at start.
 */
const modes: Readonly<Record<PermissionMode, readonly string[]>> = {
  manual: ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
  acceptEdits: ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request'],
  plan: ['--sandbox', 'read-only', '--ask-for-approval', 'never'],
  bypass: ['--dangerously-bypass-approvals-and-sandbox'],
}

/** No program reaches the daemon from inside the sandbox; what only reports is let out of it unasked. */
const outside =
  'The command `sm` talks to the manager of this session, which the sandbox does not let it reach: call it alone, ' +
  'with sandbox_permissions "require_escalated".'

function instructions({ role, permissionMode }: LaunchRequest): Record<string, Toml> {
  const asks = permissionMode === 'manual' || permissionMode === 'acceptEdits'
  const texts = [role?.text ?? '', asks ? outside : ''].filter((text) => text !== '')
  return texts.length === 0 ? {} : { developer_instructions: texts.join('\n\n') }
}

/** Everything goes on the command line: CODEX_HOME holds the login and is the user's own. */
export function codexPlan(request: LaunchRequest): LaunchPlan {
  const { command, args, foreignId, prompt, model, role } = request
  const tools = role?.tools
  const settings: Record<string, Toml> = {
    // Without this the program leaves a server of its own behind, with its process outside the terminal.
    'features.daemon_auto_start': false,
    // The notice of an update is a dialog that would take the prompt's place.
    check_for_update_on_startup: false,
    'tui.terminal_title': ['activity', 'project-name'],
    hooks: codexHooks(request.hookCommand, tools !== undefined),
    ...instructions(request),
    // The provider runs this tool itself: no hook is asked before it.
    ...(tools && !tools.includes('WebSearch') && { web_search: 'disabled' }),
  }
  const isResumed = request.resume && foreignId !== undefined
  const isPromptGiven = prompt !== undefined && fitsArgument(prompt)
  return {
    argv: [
      command,
      ...(isResumed ? ['resume'] : []),
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]),
      ...modes[request.permissionMode],
      ...(model === undefined ? [] : ['--model', model]),
      ...args,
      // Behind this a prompt that begins with a dash is still a prompt.
      ...(isResumed || isPromptGiven ? ['--'] : []),
      ...(isResumed ? [foreignId] : []),
      ...(isPromptGiven ? [prompt] : []),
    ],
    env: {},
    files: [],
    isPromptGiven,
    ...(isResumed && { foreignId }),
  }
}
