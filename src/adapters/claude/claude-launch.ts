import { randomUUID } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { freeCommands } from '../../contract/cli/free-commands.ts'
import { AppError } from '../../contract/errors.ts'
import type { LaunchPlan, LaunchRequest } from '../../ports/agent-cli.ts'
import type { ConfigHome } from '../../ports/isolation.ts'
import { fitsArgument, isAtLeast } from '../system/run-program.ts'
import { configFolder, projectName, projects } from './claude-conversations.ts'
import {
  type Hooks,
  hookSettings,
  shellQuoted,
  statusLineOf,
  takeFlag,
  takeSettings,
} from './claude-settings.ts'
import { harmless } from './claude-typing.ts'

/** What is known of the machine besides the request. */
type Launching = { readonly isRoot: boolean; readonly signal: AbortSignal }

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
  const isolated = isolatedHome(request.env, { workingDir: await placeOf(workingDir), own: foreignId })
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

/** A prompt that is too long for an argument has to be typed. */
function asArgument(prompt: string | undefined): string | undefined {
  const text = prompt === undefined ? '' : harmless(prompt)
  return text !== '' && fitsArgument(text) ? text : undefined
}

function conversationOf({ foreignId, resume }: LaunchRequest): string {
  if (resume && foreignId === undefined)
    throw new AppError(
      'invalid',
      'the id of the conversation is not known, so it cannot be resumed; start a new session instead',
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

/** A role's text with what the arguments would add to the system prompt: the CLI takes one addition only. */
async function takeRoleText(
  given: readonly string[],
  { text, workingDir }: { readonly text: string; readonly workingDir: string },
): Promise<{ readonly args: readonly string[]; readonly text: string }> {
  const inline = takeFlag(given, '--append-system-prompt')
  const file = takeFlag(inline.args, '--append-system-prompt-file')
  const read = file.value === undefined ? undefined : await contentOf(resolve(workingDir, file.value))
  const texts = [text, inline.value, read].filter((one) => one !== undefined && one !== '')
  return { args: file.args, text: texts.join('\n\n') }
}

function contentOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const message = `--append-system-prompt-file ${path} cannot be read; fix it or leave it out`
    throw new AppError('invalid', message, { cause })
  })
}

/** What the status line's script needs. */
type StatusLineParts = {
  readonly folder: string
  readonly hookCommand: readonly string[]
  /** The user's own, which must still be seen. */
  readonly theirs?: string
}

/**
 * A script that keeps what it is given, has the newest of it reported every two seconds while there is any, and shows
 * the user's own line. It must end at once: the CLI waits for it.
 */
export function statusLineScript({ folder, hookCommand, theirs }: StatusLineParts): string {
  const report = shellQuoted([...hookCommand, 'statusline'])
  const show = theirs === undefined ? '' : `printf '%s\\n' "$payload" | sh -c ${shellQuoted([theirs])}\n`
  return `#!/bin/sh
payload=$(cat)
(
  cd ${shellQuoted([folder])} || exit
  umask 077
  printf '%s\\n' "$payload" > meter.$$ && mv meter.$$ meter.json
  kill -0 "$(cat meter.pid 2>/dev/null)" 2>/dev/null && exit
  (while sleep 2 && mv meter.json meter.sent; do ${report} < meter.sent; done) &
  echo $! > meter.pid
) > /dev/null 2>&1 < /dev/null
${show}`
}

type Environment = Readonly<Record<string, string | undefined>>

/** Written all the time, and of no use to another session. */
const fresh = [
  'todos',
  'shell-snapshots',
  'session-env',
  'statsig',
  'debug',
  'file-history',
  'paste-cache',
  'cache',
  'telemetry',
  'backups',
  'ide',
  'jobs',
  'daemon',
  'sessions',
  'tasks',
  'plans',
  'history.jsonl',
]

/** Its real path, by which the CLI names the folder of its conversations. */
const placeOf = async (workingDir: string): Promise<string> =>
  (await realpath(workingDir).catch(() => workingDir)).normalize('NFC')

/**
 * Claude Code's folder behind walls: its login is the user's, which it must be able to renew; its conversations lie
 * where they always do, and its settings are copies.
 */
function isolatedHome(
  env: Environment,
  { workingDir, own }: { readonly workingDir: string; readonly own: string },
): {
  readonly env: Readonly<Record<string, string>>
  readonly homes: readonly ConfigHome[]
} {
  const path = configFolder(env)
  // Without this name the file lies beside the folder, where nothing can be written.
  const beside = env['CLAUDE_CONFIG_DIR'] ? [] : [join(env['HOME'] || homedir(), '.claude.json')]
  return {
    env: { CLAUDE_CONFIG_DIR: path },
    homes: [
      {
        path,
        shared: ['.credentials.json'],
        records: { name: projects, folder: projectName(workingDir), own },
        fresh,
        copied: beside.map((from) => ({ from, name: '.claude.json' })),
      },
    ],
  }
}
