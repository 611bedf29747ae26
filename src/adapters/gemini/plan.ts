import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/argument.ts'
import { decidingHook, quoteShell, tellingHook } from '../system/hook-command.ts'
import { geminiPolicy } from './policy.ts'
import { userSettings, withHooks } from './settings.ts'
import { geminiHome, shadowHome } from './shadow-home.ts'

/** Gemini has each mode itself. It falls back from `yolo` in a folder that is not trusted, so bypass trusts it. */
const modes: Readonly<Record<PermissionMode, readonly string[]>> = {
  manual: ['--approval-mode=default'],
  acceptEdits: ['--approval-mode=auto_edit'],
  plan: ['--approval-mode=plan'],
  bypass: ['--approval-mode=yolo', '--skip-trust'],
}

const events = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'Notification',
  'AfterAgent',
  'SessionEnd',
] as const
const shortlyMs = 10_000
/** A gate that is cut off lets the tool run, so it ends by itself long before this. */
const gateMs = 600_000

/** Starts Gemini with a home of links to the user's own, and writes nothing into that. */
export async function geminiPlan(request: LaunchRequest): Promise<LaunchPlan> {
  const { command, args, env, folder, prompt, model, role } = request
  const home = join(folder, 'gemini-home')
  const users = geminiHome(env)
  const shadow = join(home, '.gemini')
  await shadowHome(users, shadow)
  const settings = withHooks(await userSettings(join(users, 'settings.json')), hooksOf(request))
  const isResumed = request.resume && request.foreignId !== undefined
  const foreignId = request.foreignId ?? randomUUID()
  const isPromptGiven = prompt !== undefined && fitsArgument(prompt)
  const policy = join(folder, 'gemini-policy.toml')
  const secret = (path: string, text: string) => ({ path, text, mode: 0o600 })
  return {
    argv: [
      command,
      ...modes[request.permissionMode],
      isResumed ? `--resume=${foreignId}` : `--session-id=${foreignId}`,
      ...(model === undefined ? [] : [`--model=${model}`]),
      ...(role?.tools ? [`--admin-policy=${policy}`] : []),
      ...args,
      ...(isPromptGiven ? [`--prompt-interactive=${prompt}`] : []),
    ],
    env: {
      GEMINI_CLI_HOME: home,
      // This file is replaced, not written: what a person trusts must be replaced in the user's home.
      GEMINI_CLI_TRUSTED_FOLDERS_PATH:
        env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] ?? join(users, 'trustedFolders.json'),
    },
    files: [
      secret(join(shadow, 'settings.json'), `${JSON.stringify(settings, null, 2)}\n`),
      ...(role?.tools ? [secret(policy, geminiPolicy(role.tools))] : []),
      ...(role?.text ? [secret(roleFile(folder), roleContext(role.text))] : []),
    ],
    isPromptGiven,
    foreignId,
  }
}

function hooksOf({ hookCommand, role, folder }: LaunchRequest) {
  const of = (event: string) => {
    const isGate = event === 'BeforeTool' && role?.tools !== undefined
    const line = (isGate ? decidingHook : tellingHook)([...hookCommand, event])
    return { type: 'command', name: 'muster', command: line, timeout: isGate ? gateMs : shortlyMs }
  }
  const hooks = Object.fromEntries(events.map((event) => [event, [of(event)]]))
  if (role?.text === undefined || role.text === '') return hooks
  // The role comes from a file, so that it is there whether or not the daemon is.
  const command = quoteShell(['cat', roleFile(folder)])
  const roleHook = { type: 'command', name: 'muster-role', command, timeout: shortlyMs }
  return { ...hooks, SessionStart: [of('SessionStart'), roleHook] }
}

const roleFile = (folder: string): string => join(folder, 'gemini-role.json')

const roleContext = (text: string): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text } })
