import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { isTrusted } from './gemini-home.ts'
import { geminiPlan } from './gemini-launch.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'muster-gemini-'))
  mkdirSync(join(root, 'home/.gemini/extensions/mine'), { recursive: true })
  mkdirSync(join(root, 'proj'))
  writeFileSync(join(root, 'home/.gemini/settings.json'), '{ // mine\n "ui": { "theme": "x // y" } }')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const plan = (fields: Parameters<typeof launchRequest>[1] = {}) => {
  const env = { HOME: join(root, 'home'), ...fields.env }
  return geminiPlan(launchRequest(join(root, 'session'), { workingDir: join(root, 'proj'), ...fields, env }))
}
const textOf = (made: Awaited<ReturnType<typeof plan>>, end: string) =>
  made.files.find(({ path }) => path.endsWith(end))?.text ?? ''

test('[SM-44] the user’s files are linked and none of them is changed', async () => {
  const before = readFileSync(join(root, 'home/.gemini/settings.json'), 'utf8')
  const made = await plan()
  const shadow = join(root, 'session/gemini-home/.gemini')
  expect(made.env['GEMINI_CLI_HOME']).toBe(join(root, 'session/gemini-home'))
  for (const name of ['settings.json', 'tmp', 'oauth_creds.json', 'extensions/mine'])
    expect(lstatSync(join(shadow, name)).isSymbolicLink()).toBe(true)
  expect(lstatSync(join(shadow, 'extensions')).isSymbolicLink()).toBe(false)
  expect(readFileSync(join(root, 'home/.gemini/settings.json'), 'utf8')).toBe(before)
  expect(existsSync(join(root, 'home/.gemini/extensions/muster'))).toBe(false)
  expect(made.files.every(({ path, mode }) => path.startsWith(join(root, 'session')) && mode === 0o600)).toBe(
    true,
  )
})

test('[SM-44] a second start in the same folder is the same again', async () => {
  await plan()
  await expect(plan()).resolves.toMatchObject({ isPromptGiven: false })
})

test('[MUS-207] the prompt is one argument with its option, and the id is chosen before the start', async () => {
  const made = await plan({ prompt: '-p no', model: 'm', args: ['--debug'] })
  expect(made.argv.slice(-2)).toEqual(['--debug', '--prompt-interactive=-p no'])
  expect(made.argv).toContain(`--session-id=${made.foreignId}`)
  const again = await plan({ resume: true, foreignId: 'id-1' })
  expect(again.argv).toContain('--resume=id-1')
})

test('[MUS-209] a role with tools decides before each one, and is a policy that needs no hook', async () => {
  const made = await plan({ role: { text: 'be kind', tools: ['Read', 'Grep'] } })
  expect(textOf(made, 'hooks.json')).toContain('/opt/sm hook BeforeTool || { test $? -eq 2')
  expect(textOf(made, 'ROLE.md')).toBe('be kind')
  const policy = textOf(made, 'policy.toml')
  expect(policy).toContain('"run_shell_command"')
  expect(policy).not.toContain('"read_file"')
  for (const tool of ['ask_user', 'write_todos', 'enter_plan_mode', 'exit_plan_mode'])
    expect(policy).toContain(`"${tool}"`)
  expect(policy).toContain('mcpName = "*"')
  expect(made.argv.some((word) => word.startsWith('--admin-policy='))).toBe(true)
  const free = await plan()
  expect(textOf(free, 'hooks.json')).toContain('/opt/sm hook BeforeTool || :')
  expect(textOf(free, 'gemini-policy.toml')).not.toContain('deny')
})

test('[MUS-209] tools of MCP servers are left to the hook when the role has some', async () => {
  const made = await plan({ role: { text: '', tools: ['mcp__db__query'] } })
  expect(textOf(made, 'policy.toml')).not.toContain('mcpName')
})

test('[MUS-135] a folder that Gemini would ask about is started without the question', async () => {
  expect((await plan()).env['GEMINI_CLI_TRUST_WORKSPACE']).toBe('false')
  expect((await plan({ permissionMode: 'bypass' })).env['GEMINI_CLI_TRUST_WORKSPACE']).toBe('true')
  const rules = { [join(root, 'proj')]: 'TRUST_FOLDER' }
  writeFileSync(join(root, 'home/.gemini/trustedFolders.json'), JSON.stringify(rules))
  expect((await plan()).env['GEMINI_CLI_TRUST_WORKSPACE']).toBe('true')
})

test('[MUS-146] trust is what the longest rule says, and a worktree has its checkout’s', async () => {
  const files = { folders: join(root, 'trusted.json'), settings: join(root, 'settings.json') }
  const tree = join(root, 'tree')
  mkdirSync(tree)
  mkdirSync(join(root, 'proj/deep'))
  writeFileSync(join(tree, '.git'), `gitdir: ${join(root, 'proj')}/.git/worktrees/tree\n`)
  const trusts = (folder: string, rules: object) => {
    writeFileSync(files.folders, JSON.stringify(rules))
    return isTrusted(folder, files)
  }
  const proj = join(root, 'proj')
  expect(await trusts(join(proj, 'deep'), { [proj]: 'TRUST_FOLDER' })).toBe(true)
  expect(
    await trusts(join(proj, 'deep'), { [proj]: 'TRUST_FOLDER', [join(proj, 'deep')]: 'DO_NOT_TRUST' }),
  ).toBe(false)
  expect(await trusts(proj, { [join(root, 'other')]: 'TRUST_PARENT' })).toBe(true)
  expect(await trusts(tree, { [proj]: 'TRUST_FOLDER' })).toBe(true)
  expect(await trusts(tree, { [proj]: 'DO_NOT_TRUST' })).toBe(false)
  expect(await trusts(`${proj}ection`, { [proj]: 'TRUST_FOLDER' })).toBe(false)
  writeFileSync(files.settings, '{"security":{"folderTrust":{"enabled":false}}} // off')
  expect(await trusts(tree, {})).toBe(true)
})
