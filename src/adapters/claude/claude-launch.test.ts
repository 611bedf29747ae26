import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { runs } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import type { LaunchRequest } from '../../ports/agent-cli.ts'
import { planLaunch, statusLineScript } from './claude-launch.ts'
import { hookSettings, shellQuoted } from './claude-settings.ts'

const { signal } = new AbortController()

type Settings = {
  hooks: Record<string, { hooks: Record<string, unknown>[] }[]>
  statusLine: Record<string, unknown>
}

async function plan(fields: Partial<LaunchRequest> = {}, isRoot = false) {
  const request = launchRequest(tempFolder('claude-plan-'), {
    command: 'claude',
    version: '2.1.325',
    hookCommand: ['/opt/sm', 'hook', 'claude'],
    ...fields,
  })
  const made = await planLaunch(request, { isRoot, signal })
  const text = (name: string) =>
    made.files.find(({ path }) => path === join(request.folder, name))?.text ?? ''
  const settings = JSON.parse(text('settings.json')) as Settings & Record<string, unknown>
  const hook = (event: string) => settings.hooks[event]?.at(-1)?.hooks[0] ?? {}
  return { ...made, request, settings, text, hook }
}

/** The value after a flag. */
const after = (argv: readonly string[], flag: string): string | undefined =>
  argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined

test('[SM-44] a new conversation gets an id, and the prompt is the last argument', async () => {
  const { argv, isPromptGiven, foreignId, request } = await plan({
    prompt: '-v is what I ask for',
    model: 'opus',
    args: ['--verbose', '--add-dir', '/srv'],
  })
  expect(argv).toEqual([
    'claude',
    '--settings',
    join(request.folder, 'settings.json'),
    '--session-id',
    foreignId,
    '--name',
    'worker',
    '--model',
    'opus',
    '--permission-mode',
    'manual',
    '--verbose',
    '--add-dir',
    '/srv',
    '--',
    '-v is what I ask for',
  ])
  expect(foreignId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  expect(isPromptGiven).toBe(true)
})

test('[SM-44] a conversation goes on by its id', async () => {
  const { argv, foreignId, isPromptGiven } = await plan({ resume: true, foreignId: 'abc' })
  expect(after(argv, '--resume')).toBe('abc')
  expect(argv).not.toContain('--session-id')
  expect(argv).not.toContain('--')
  expect({ foreignId, isPromptGiven }).toEqual({ foreignId: 'abc', isPromptGiven: false })
  await expect(plan({ resume: true })).rejects.toMatchObject({ code: 'invalid' })
})

test('[MUS-237] a prompt is no command, and one that is too long for an argument is typed', async () => {
  expect((await plan({ prompt: '/exit' })).argv.at(-1)).toBe('Message: /exit')
  const long = await plan({ prompt: 'ü'.repeat(60_000) })
  expect(long.isPromptGiven).toBe(false)
  expect(long.argv).not.toContain('--')
})

test('[MUS-146] a mode is always said, in the words of the version', async () => {
  const mode = async (fields: Partial<LaunchRequest>) => after((await plan(fields)).argv, '--permission-mode')
  expect(await mode({ version: '2.1.197' })).toBe('default')
  expect(await mode({ version: '' })).toBe('default')
  expect(await mode({ version: '2.1.325' })).toBe('manual')
  expect(await mode({ permissionMode: 'acceptEdits' })).toBe('acceptEdits')
  expect(await mode({ permissionMode: 'plan' })).toBe('plan')
})

test('[MUS-146] bypass needs no dialog, and says that it is confined only to run as root', async () => {
  const { argv, env, settings } = await plan({ permissionMode: 'bypass' }, true)
  expect(argv).toContain('--dangerously-skip-permissions')
  expect(argv).not.toContain('--permission-mode')
  expect(settings['skipDangerousModePermissionPrompt']).toBe(true)
  expect(env).toEqual({ IS_SANDBOX: '1' })
  expect((await plan({ permissionMode: 'bypass' })).env).toEqual({})
  const asking = await plan({}, true)
  expect(asking.env).toEqual({})
  expect(asking.settings).not.toHaveProperty('skipDangerousModePermissionPrompt')
})

test('[SM-2] everything is reported, by HTTP where that works and by an absolute path where it does not', async () => {
  const { hook, settings, files } = await plan({ version: '2.1.197' })
  expect(hook('SessionStart')).toMatchObject({
    type: 'command',
    command: '/opt/sm',
    args: ['hook', 'claude', 'SessionStart'],
  })
  for (const event of [
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'Stop',
    'StopFailure',
  ])
    expect(hook(event)).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:9/hook/claude',
      headers: { authorization: 'Bearer $MUSTER_TOKEN' },
      allowedEnvVars: ['MUSTER_TOKEN'],
      timeout: 5,
    })
  expect(hook('PermissionRequest')['timeout']).toBe(86_400)
  expect(settings['promptSuggestionEnabled']).toBe(false)
  expect(files.every(({ path, mode }) => mode === (path.endsWith('.sh') ? 0o700 : 0o600))).toBe(true)
})

test('[SM-2] an older version is given only events that it knows; it would stop at the others', async () => {
  const { settings } = await plan({ version: '2.1.100' })
  expect(Object.keys(settings.hooks)).not.toContain('StopFailure')
  expect(Object.keys(settings.hooks)).toContain('Stop')
  expect(Object.keys((await plan({ version: 'unknown' })).settings.hooks)).toContain('StopFailure')
})

test('[MUS-209] a role keeps to its tools by the CLI itself and by a gate that closes when it fails', async () => {
  const role = { text: 'Be brief.', tools: ['Read', 'Task'] }
  const { argv, text, hook, request } = await plan({ role })
  expect(after(argv, '--tools')).toBe('Read,Task')
  expect(after(argv, '--append-system-prompt-file')).toBe(join(request.folder, 'role.md'))
  expect(text('role.md')).toBe('Be brief.')
  expect(hook('PreToolUse')).toMatchObject({ type: 'http', onFailure: 'block' })
  for (const version of ['2.1.197', '2.1.324', ''])
    expect((await plan({ role, version })).hook('PreToolUse')).toEqual({
      type: 'command',
      command: `'/opt/sm' 'hook' 'claude' 'gate' || exit 2`,
      timeout: 86_400,
    })
  const free = await plan({ role: { text: 'Be brief.' } })
  expect(free.argv).not.toContain('--tools')
  expect(free.hook('PreToolUse')).not.toHaveProperty('onFailure')
})

test('[SM-46] what the arguments add to the system prompt is joined with the role, for the CLI takes one addition', async () => {
  const workingDir = tempFolder('claude-role-')
  writeFileSync(join(workingDir, 'more.md'), 'More.')
  const args = ['--append-system-prompt', 'Also.', '--append-system-prompt-file=more.md', '--verbose']
  const { argv, text } = await plan({ args, workingDir, role: { text: 'Be brief.' } })
  expect(text('role.md')).toBe('Be brief.\n\nAlso.\n\nMore.')
  expect(argv.filter((arg) => arg.startsWith('--append'))).toEqual(['--append-system-prompt-file'])
  expect(argv).toContain('--verbose')
  expect((await plan({ args, workingDir })).argv).toEqual(expect.arrayContaining(args))
  const missing = { args: ['--append-system-prompt-file', 'none.md'], workingDir, role: { text: '' } }
  await expect(plan(missing)).rejects.toMatchObject({ code: 'invalid' })
})

test('[SM-2] settings among the arguments are joined with ours, for the CLI reads only one', async () => {
  const stop = { hooks: [{ type: 'command', command: 'true' }] }
  const given = {
    model: 'opus',
    hooks: { Stop: [stop], Setup: [stop] },
    statusLine: { type: 'command', command: 'date' },
  }
  const folder = tempFolder('claude-given-')
  writeFileSync(join(folder, 'mine.json'), JSON.stringify(given))
  for (const args of [
    ['--settings', JSON.stringify(given), '--verbose'],
    ['--verbose', '--settings=mine.json'],
  ]) {
    const { argv, settings, text } = await plan({ args, workingDir: folder })
    expect(argv.filter((arg) => arg.startsWith('--settings'))).toHaveLength(1)
    expect(argv).toContain('--verbose')
    expect(settings['model']).toBe('opus')
    expect(settings.hooks['Stop']).toEqual([stop, expect.anything()])
    expect(settings.hooks['Setup']).toEqual([stop])
    expect(text('statusline.sh')).toContain(`sh -c 'date'`)
  }
  for (const args of [
    ['--settings', '{'],
    ['--settings', 'missing.json'],
  ])
    await expect(plan({ args, workingDir: folder })).rejects.toMatchObject({ code: 'invalid' })
})

test('[SM-2] the status line that the user has stays, and nothing of the user’s is written', async () => {
  const home = tempFolder('claude-home-')
  const workingDir = join(home, 'work')
  mkdirSync(join(home, 'own'), { recursive: true })
  mkdirSync(join(workingDir, '.claude'), { recursive: true })
  const line = (command: string) => JSON.stringify({ statusLine: { type: 'command', command, padding: 2 } })
  const shown = async (env: Record<string, string>) => {
    const { settings, text } = await plan({ workingDir, env })
    return [settings.statusLine, text('statusline.sh').split('\n').at(-2)] as const
  }
  const env = { HOME: home, CLAUDE_CONFIG_DIR: join(home, 'own') }
  const [none] = await shown(env)
  expect(none).toEqual({
    type: 'command',
    command: expect.stringMatching(/^'sh' '.*statusline\.sh'$/) as unknown,
  })
  writeFileSync(join(home, 'own', 'settings.json'), line('of the user'))
  const [ours, last] = await shown(env)
  expect(ours).toMatchObject({ padding: 2 })
  expect(last).toBe(`printf '%s\\n' "$payload" | sh -c 'of the user'`)
  writeFileSync(join(workingDir, '.claude', 'settings.json'), line(`of "the" project's`))
  expect((await shown(env))[1]).toContain(`sh -c 'of "the" project'\\''s'`)
  writeFileSync(join(workingDir, '.claude', 'settings.json'), '{')
  expect((await shown(env))[1]).toContain('of the user')
})

test('[MUS-205] no proxy is asked to bring a session’s token', async () => {
  const proxied = { HTTPS_PROXY: 'http://proxy:1' }
  expect((await plan({ env: proxied })).env).toEqual({ NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' })
  const { env } = await plan({ env: { http_proxy: 'x', no_proxy: 'intern' } })
  expect(env).toEqual({ NO_PROXY: 'intern,127.0.0.1', no_proxy: 'intern,127.0.0.1' })
  expect((await plan({ env: { PATH: '/bin' } })).env).toEqual({})
})

const sh = (line: string, input = '') => spawnSync('sh', ['-c', line], { input, encoding: 'utf8' })

test('[MUS-207] a shell reads every argument back as it was', () => {
  const argument = fc.oneof(
    fc.constantFrom("it's", '$(id)', '`id`', '"', '\\', '', '-n', 'a b', '\n'),
    fc.string(),
  )
  fc.assert(
    fc.property(
      fc.array(
        argument.filter((text) => !text.includes('\0')),
        { maxLength: 4 },
      ),
      (argv) => {
        const { stdout } = sh(`for arg in ${shellQuoted(argv)}; do printf '%s\\036' "$arg"; done`)
        expect(stdout.split('\u001e').slice(0, -1)).toEqual(argv)
      },
    ),
    runs(40),
  )
})

test('[MUS-209][MUS-236] a gate that cannot be asked, or fails in any way, is closed', () => {
  const exitOf = (...hookCommand: string[]) => {
    const about = {
      version: '2.1.197',
      hookUrl: 'http://127.0.0.1:9',
      hookCommand,
      role: { text: '', tools: ['Read'] },
    }
    const [group] = hookSettings(about)['PreToolUse'] as [{ hooks: { command: string }[] }]
    return sh(group.hooks[0]?.command ?? '', '{}').status
  }
  expect(exitOf('/no/such/program')).toBe(2)
  expect(exitOf('sh', '-c', 'exit 1')).toBe(2)
  expect(exitOf('sh', '-c', 'kill -9 $$')).toBe(2)
  expect(exitOf('sh', '-c', 'exit 2')).toBe(2)
  expect(exitOf('sh', '-c', 'cat')).toBe(0)
})

test('[MUS-134] a status line reports the newest of what it is given, and shows the user’s own', async () => {
  const folder = tempFolder("claude it's ")
  const reports = join(folder, 'reports')
  const reporter = join(folder, 'report.sh')
  writeFileSync(reporter, `echo "$1 $(cat)" >> ${shellQuoted([reports])}\n`)
  const script = statusLineScript({
    folder,
    hookCommand: ['sh', reporter],
    theirs: `read line; echo "I see $line"`,
  })
  const path = join(folder, 'statusline.sh')
  writeFileSync(path, script)
  for (const n of [1, 2, 3])
    expect(sh(shellQuoted(['sh', path]), `{"n":${n}}`)).toMatchObject({
      stdout: `I see {"n":${n}}\n`,
      stderr: '',
      status: 0,
    })
  await expect.poll(() => existsSync(reports) && readFileSync(reports, 'utf8')).toBe('statusline {"n":3}\n')
  sh(shellQuoted(['sh', path]), '{"n":4}')
  await expect.poll(() => readFileSync(reports, 'utf8')).toBe('statusline {"n":3}\nstatusline {"n":4}\n')
  // Nothing more to report, nothing left running.
  const pid = Number(readFileSync(join(folder, 'meter.pid'), 'utf8'))
  await expect.poll(() => isAlive(pid)).toBe(false)
})

test('[MUS-134] without a status line of the user’s nothing is shown', () => {
  const folder = tempFolder('claude-silent-')
  const script = statusLineScript({ folder, hookCommand: ['true'] })
  expect(sh(script, '{}')).toMatchObject({ stdout: '', stderr: '', status: 0 })
  expect(readFileSync(join(folder, 'meter.json'), 'utf8')).toBe('{}\n')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
