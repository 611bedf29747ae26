import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/run-program.ts'
import { extensionFiles } from './extension.ts'
import { geminiPolicy } from './policy.ts'
import { geminiHome, shadowHome } from './shadow-home.ts'
import { isTrusted } from './trust.ts'

/** Gemini has each mode itself, but asks for everything in a folder that is not trusted; bypass trusts it. */
const modes: Readonly<Record<PermissionMode, readonly string[]>> = {
  manual: ['--approval-mode=default'],
  acceptEdits: ['--approval-mode=auto_edit'],
  plan: ['--approval-mode=plan'],
  bypass: ['--approval-mode=yolo'],
}

/** Starts Gemini with a home of links to the user's own; nothing of the user's settings is changed. */
export async function geminiPlan(request: LaunchRequest): Promise<LaunchPlan> {
  const { command, args, env, folder, prompt, model, role } = request
  const users = geminiHome(env)
  const home = join(folder, 'gemini-home')
  const shadow = join(home, '.gemini')
  await shadowHome(users, shadow)
  const trustFile = env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] ?? join(users, 'trustedFolders.json')
  const isResumed = request.resume && request.foreignId !== undefined
  const foreignId = request.foreignId ?? randomUUID()
  const isPromptGiven = prompt !== undefined && fitsArgument(prompt)
  const policy = join(folder, 'gemini-policy.toml')
  return {
    argv: [
      command,
      ...modes[request.permissionMode],
      isResumed ? `--resume=${foreignId}` : `--session-id=${foreignId}`,
      ...(model === undefined ? [] : [`--model=${model}`]),
      `--admin-policy=${policy}`,
      ...args,
      ...(isPromptGiven ? [`--prompt-interactive=${prompt}`] : []),
    ],
    env: {
      GEMINI_CLI_HOME: home,
      // This file is replaced as a whole, which would leave the user's own behind the link as it was.
      GEMINI_CLI_TRUSTED_FOLDERS_PATH: trustFile,
      GEMINI_CLI_TRUST_WORKSPACE: env['GEMINI_CLI_TRUST_WORKSPACE'] ?? String(await trusts()),
    },
    files: [
      ...extensionFiles(request, shadow),
      { path: policy, text: geminiPolicy(role?.tools), mode: 0o600 },
    ],
    isPromptGiven,
    foreignId,
  }

  async function trusts(): Promise<boolean> {
    const files = { folders: trustFile, settings: join(users, 'settings.json') }
    return request.permissionMode === 'bypass' || (await isTrusted(request.workingDir, files))
  }
}
