import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { freeCommands } from '../../contract/cli/free-commands.ts'
import { told } from '../../contract/formats/foreign-json.ts'
import type { PermissionMode } from '../../contract/values.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { decidingHook, tellingHook } from '../system/hook-command.ts'
import { fitsArgument } from '../system/run-program.ts'
import { extensionName, geminiHome, isTrusted, shadowHome } from './gemini-home.ts'
import { geminiTools } from './gemini-hooks.ts'

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

const events = [
  'SessionStart',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'Notification',
  'AfterAgent',
  'PreCompress',
  'SessionEnd',
] as const
/** It asks before every turn whether there is anything to compress; only what a person wants is told. */
const matchers: Readonly<Record<string, string>> = { PreCompress: 'manual' }
const shortlyMs = 10_000
/** A gate that is cut off lets the tool run, so it ends by itself long before this. */
const gateMs = 600_000

/** The files of an extension with our hooks and the text of a role, which Gemini adds to its instructions. */
function extensionFiles(
  { hookCommand, role }: LaunchRequest,
  home: string,
): readonly { readonly path: string; readonly text: string; readonly mode: number }[] {
  const folder = join(home, 'extensions', extensionName)
  const hooks = events.map((event) => {
    const isGate = event === 'BeforeTool' && role?.tools !== undefined
    const command = (isGate ? decidingHook : tellingHook)([...hookCommand, event])
    const hook = { type: 'command', name: extensionName, command, timeout: isGate ? gateMs : shortlyMs }
    return [event, [told({ matcher: matchers[event], hooks: [hook] })]]
  })
  const text = role?.text ?? ''
  const manifest = {
    name: extensionName,
    version: '1.0.0',
    ...(text !== '' && { contextFileName: 'ROLE.md' }),
  }
  const file = (name: string, content: string) => ({ path: join(folder, name), text: content, mode: 0o600 })
  return [
    file('gemini-extension.json', JSON.stringify(manifest)),
    file('hooks/hooks.json', JSON.stringify({ hooks: Object.fromEntries(hooks) })),
    ...(text === '' ? [] : [file('ROLE.md', text)]),
  ]
}

/** Tools that no role names: without them in the policy the model would try them again and again. */
const unnamed = [
  'update_topic',
  'get_internal_docs',
  'take_snapshot',
  'list_mcp_resources',
  'read_mcp_resource',
  'save_memory',
]

/** An agent is not asked for what it only reports or looks up with `sm`; the policy takes commands apart itself. */
const free = [
  '[[rule]]',
  'toolName = "run_shell_command"',
  `commandPrefix = ${JSON.stringify(freeCommands.map((name) => `sm ${name}`))}`,
  'decision = "allow"',
  'priority = 100',
  '',
]

/** The policy of a session: what it may say with `sm`, and what its role does not have. */
const geminiPolicy = (tools: readonly string[] | undefined): string =>
  [...free, ...(tools ? denials(tools) : [])].join('\n')

/**
 * Rules that take away every built-in tool of Gemini that a role does not have. It needs no hook and no daemon,
 * and a project's settings cannot switch it off; tools of MCP servers are left to the hook unless none is allowed.
 */
function denials(tools: readonly string[]): readonly string[] {
  const allowed = new Set(tools.flatMap((tool) => (tool === 'Task' ? ['Task', 'Agent'] : [tool])))
  const denied = Object.entries(geminiTools).flatMap(([own, name]) => (allowed.has(name) ? [] : [own]))
  const others = allowed.has('Agent') ? unnamed : [...unnamed, 'complete_task']
  const hasMcp = tools.some((tool) => tool.startsWith('mcp__'))
  return [
    '[[rule]]',
    `toolName = ${JSON.stringify([...denied, ...others])}`,
    'decision = "deny"',
    'priority = 999',
    '',
    ...(hasMcp
      ? []
      : ['[[rule]]', 'toolName = "*"', 'mcpName = "*"', 'decision = "deny"', 'priority = 999', '']),
  ]
}
