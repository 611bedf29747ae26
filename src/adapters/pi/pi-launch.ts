import { join } from 'node:path'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { fitsArgument } from '../system/run-program.ts'
import { piExtension } from './pi-extension.ts'
import { piTools } from './pi-hooks.ts'

/** pi asks for nothing by itself: `manual` and `acceptEdits` are the extension's work, `plan` has no tool to write. */
const readOnly = ['read', 'grep', 'find', 'ls']

/** Everything comes by the command line; the conversation stays where pi keeps it. */
export async function piPlan(request: LaunchRequest): Promise<LaunchPlan> {
  const { command, args, folder, prompt, model, role, foreignId, permissionMode } = request
  const isResumed = request.resume && foreignId !== undefined
  // What begins so is taken for an option or a file.
  const isPromptGiven = prompt !== undefined && fitsArgument(prompt) && !/^[-@]/.test(prompt)
  const [extension, roleFile] = [join(folder, 'pi-extension.js'), join(folder, 'pi-role.md')]
  const source = piExtension({
    url: `${request.hookUrl}/pi`,
    isGated: role?.tools !== undefined,
    mode: permissionMode,
  })
  return {
    argv: [
      command,
      '--extension',
      extension,
      ...toolArgs(request),
      ...(role?.text ? ['--append-system-prompt', roleFile] : []),
      ...(model === undefined ? [] : ['--model', model]),
      ...(isResumed ? ['--session', foreignId] : []),
      ...args,
      ...(isPromptGiven ? [prompt] : []),
    ],
    env: {},
    files: [
      { path: extension, text: source, mode: 0o600 },
      ...(role?.text ? [{ path: roleFile, text: role.text, mode: 0o600 }] : []),
    ],
    isPromptGiven,
    ...(isResumed && { foreignId }),
  }
}

/** A list of tools is an allow-list for extensions' tools as well, and holds without any answer of the daemon. */
function toolArgs({ role, permissionMode }: LaunchRequest): readonly string[] {
  const isPlan = permissionMode === 'plan'
  if (!role?.tools) return isPlan ? ['--tools', readOnly.join(',')] : []
  const allowed = new Set(role.tools)
  const own = Object.entries(piTools).flatMap(([tool, name]) => (allowed.has(name) ? [tool] : []))
  const others = role.tools.filter((tool) => /^[a-z_]+$/.test(tool))
  const tools = isPlan ? own.filter((tool) => readOnly.includes(tool)) : [...own, ...others]
  return tools.length > 0 ? ['--tools', tools.join(',')] : ['--no-tools']
}
