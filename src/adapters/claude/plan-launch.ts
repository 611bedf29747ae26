import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { freeCommands } from '../../contract/cli/free-commands.ts'
import { AppError } from '../../contract/errors.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import { harmless } from './dialect/harmless.ts'
import { isAtLeast } from './dialect/version.ts'
import { type Hooks, hookSettings } from './hook-settings.ts'
import { isolatedHome } from './isolated-home.ts'
import { takeRoleText } from './role-text.ts'
import { shellQuoted } from './shell-quoted.ts'
import { statusLineScript } from './status-line.ts'
import { statusLineOf, takeSettings } from './user-settings.ts'

/** What is known of the machine besides the request. */
export type Launching = { readonly isRoot: boolean; readonly signal: AbortSignal }

/** How to start Claude Code so that it can be watched, without touching any settings of the user's. */
export async function planLaunch(request: LaunchRequest, { isRoot, signal }: Launching): Promise<LaunchPlan> {
  const { folder, role, workingDir } = request
  const prompt = asArgument(request.prompt)
  const taken = await takeSettings(request.args, request)
  const theirs = taken.settings.statusLine ?? (await statusLineOf(request))
  const told = role && (await takeRoleText(taken.args, { text: role.text, workingDir }))
  signal.throwIfAborted()
  const script = join(folder, 'statusline.sh')
  const settings = {
    // Its guesses at the next prompt look like a draft of the user's.
    promptSuggestionEnabled: false,
    ...(request.permissionMode === 'bypass' && { skipDangerousModePermissionPrompt: true }),
    ...taken.settings,
    permissions: allowing(taken.settings['permissions']),
    hooks: joined(taken.settings['hooks'], hookSettings(request)),
    statusLine: { ...theirs, type: 'command', command: shellQuoted(['sh', script]) },
  }
  const parts = { folder, hookCommand: request.hookCommand, ...(theirs && { theirs: theirs.command }) }
  const foreignId = conversationOf(request)
  const isolated = isolatedHome(request.env)
  return {
    argv: [
      request.command,
      '--settings',
      join(folder, 'settings.json'),
      request.resume ? '--resume' : '--session-id',
      foreignId,
      '--name',
      request.name,
      ...(request.model === undefined ? [] : ['--model', request.model]),
      ...permission(request),
      ...(told ? ['--append-system-prompt-file', join(folder, 'role.md')] : []),
      ...(role?.tools ? ['--tools', role.tools.join(',')] : []),
      ...(told ?? taken).args,
      // What a prompt begins with must not be taken for a flag, nor the flag before it for its beginning.
      ...(prompt === undefined ? [] : ['--', prompt]),
    ],
    env: {
      ...(request.permissionMode === 'bypass' && isRoot && { IS_SANDBOX: '1' }),
      ...pastProxies(request),
      ...(request.env['MUSTER_ISOLATION'] && isolated.env),
    },
    files: [
      { path: join(folder, 'settings.json'), text: `${JSON.stringify(settings, null, 2)}\n`, mode: 0o600 },
      { path: script, text: statusLineScript(parts), mode: 0o700 },
      ...(told ? [{ path: join(folder, 'role.md'), text: told.text, mode: 0o600 }] : []),
    ],
    isPromptGiven: prompt !== undefined,
    foreignId,
    homes: isolated.homes,
  }
}

/** The system refuses a program whose one argument is over 128 KB; such a prompt has to be typed. */
const mostBytes = 100_000

function asArgument(prompt: string | undefined): string | undefined {
  const text = prompt === undefined ? '' : harmless(prompt)
  return text === '' || Buffer.byteLength(text) > mostBytes ? undefined : text
}

function conversationOf({ foreignId, resume }: LaunchRequest): string {
  if (resume && foreignId === undefined)
    throw new AppError(
      'invalid',
      'to resume, the id of the conversation is needed; start a new session instead',
    )
  return foreignId ?? randomUUID()
}

function permission({ permissionMode, version }: LaunchRequest): readonly string[] {
  switch (permissionMode) {
    case 'bypass':
      return ['--dangerously-skip-permissions']
    case 'manual':
      // The newer word; what it means is the same. Left out, another mode would be the default.
      return ['--permission-mode', isAtLeast(version, '2.1.200') ? 'manual' : 'default']
    case 'acceptEdits':
    case 'plan':
      return ['--permission-mode', permissionMode]
  }
}

/** An agent is not asked for what it only reports or looks up with `sm`. */
function allowing(theirs: unknown): Record<string, unknown> {
  const given = typeof theirs === 'object' && theirs !== null ? (theirs as Record<string, unknown>) : {}
  const allow = Array.isArray(given['allow']) ? (given['allow'] as unknown[]) : []
  return { ...given, allow: [...allow, ...freeCommands.map((name) => `Bash(sm ${name}:*)`)] }
}

function joined(theirs: unknown, ours: Hooks): Hooks {
  const given = typeof theirs === 'object' && theirs !== null ? (theirs as Record<string, unknown>) : {}
  const merged: Hooks = { ...ours }
  for (const [event, groups] of Object.entries(given))
    if (Array.isArray(groups)) merged[event] = [...(groups as unknown[]), ...(ours[event] ?? [])]
  return merged
}

/** Hooks carry a session's token, and the daemon is on this machine: no proxy is asked to bring them. */
function pastProxies({ env, hookUrl }: LaunchRequest): Record<string, string> {
  const isProxied = Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name))
  if (!isProxied) return {}
  const host = new URL(hookUrl).hostname
  const listed = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').filter((one) => one !== '')
  const list = listed.includes(host) ? listed : [...listed, host]
  return { NO_PROXY: list.join(','), no_proxy: list.join(',') }
}
