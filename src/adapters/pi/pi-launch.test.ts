import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { piPlan } from './pi-launch.ts'
import { piTranscripts } from './pi-transcript.ts'

const plan = (fields: Parameters<typeof launchRequest>[1] = {}) => piPlan(launchRequest('/tmp/f', fields))

test('[SM-44] pi gets its extension and role by the command line, and nothing else is changed', async () => {
  const made = await plan({ role: { text: 'be kind' }, model: 'm', prompt: 'go', args: ['--verbose'] })
  expect(made.env).toEqual({})
  expect(made.files.map(({ path }) => path)).toEqual(['/tmp/f/pi-extension.js', '/tmp/f/pi-role.md'])
  expect(made.argv).toEqual([
    '/opt/agent',
    '--extension',
    '/tmp/f/pi-extension.js',
    '--append-system-prompt',
    '/tmp/f/pi-role.md',
    '--model',
    'm',
    '--verbose',
    'go',
  ])
})

test('[MUS-207] a prompt that pi would take for an option or a file is typed', async () => {
  for (const prompt of ['-x', '--help', '@file']) expect((await plan({ prompt })).isPromptGiven).toBe(false)
})

const toolsIn = (argv: readonly string[]) => argv[argv.indexOf('--tools') + 1]

test('[MUS-209] a role’s tools are an allow-list of pi itself', async () => {
  const tools = async (names: string[]) => toolsIn((await plan({ role: { text: '', tools: names } })).argv)
  expect(await tools(['Read', 'Bash', 'Glob'])).toBe('read,bash,find,ls')
  expect((await plan({ role: { text: '', tools: ['WebFetch'] } })).argv).toContain('--no-tools')
  expect((await plan()).argv).not.toContain('--tools')
})

test('[MUS-146] planning has no tool that writes', async () => {
  expect(toolsIn((await plan({ permissionMode: 'plan' })).argv)).toBe('read,grep,find,ls')
  const role = { text: '', tools: ['Read', 'Write', 'Bash'] }
  expect(toolsIn((await plan({ permissionMode: 'plan', role })).argv)).toBe('read')
})

test('[MUS-135] a conversation is gone on with by its id', async () => {
  const { argv } = await plan({ resume: true, foreignId: 'id-1' })
  expect(argv.slice(-2)).toEqual(['--session', 'id-1'])
})

test('[SM-86][MUS-307] the session file is found by its id, or where pi says once it is there and says so itself', async () => {
  const home = mkdtempSync(join(tmpdir(), 'muster-pi-'))
  const folder = join(home, '.pi/agent/sessions/--home-dev-proj--')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, '2026-01-01T00-00-00-000Z_id-1.jsonl')
  const conversation = { workingDir: '/home/dev/proj', env: { HOME: home }, startedAtMs: 0 }
  const told = { ...conversation, foreignId: 'id-1', transcript: path }
  expect(await piTranscripts(told)).toEqual([])
  writeFileSync(path, '{"type":"session","id":"id-2"}\n')
  expect(await piTranscripts(told)).toEqual([])
  writeFileSync(path, '{"type":"session","id":"id-1"}\n')
  expect(await piTranscripts(told)).toEqual([{ path }])
  expect(await piTranscripts({ ...conversation, foreignId: 'id-1' })).toEqual([{ path }])
  expect(await piTranscripts({ ...conversation, foreignId: 'id-2' })).toEqual([])
  rmSync(home, { recursive: true, force: true })
})
