import { cpSync, existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import { sessionFiles } from '../../src/contract/home.ts'
import type { TrustView } from '../../src/contract/project-trust.ts'
import { runProgram } from '../cli/run-sm.ts'
import { commitFiles, put, repository, runGit } from '../support/git-repository.ts'
import { armoury } from '../support/git-weapons.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { tempFolder } from '../support/temp-journal.ts'

const usual = shared(async () => (await standInClaude()).m)
type Daemon = Awaited<ReturnType<typeof usual>>

const script = `export const meta = { name: 'gift', description: 'A gift', phases: ['one'], tools: ['Bash'], writes: ['**'] }
export default async () => 'done'
`

/** A repository that somebody cloned: all that it brings would run a program, or loosen a rule. */
function hostileProject() {
  const arms = armoury()
  const filter = arms.arm('filter', 'cat')
  const giftScript = `${arms.arm('gift')}\nexec sleep 600\n`
  const root = realpathSync(repository(join(tempFolder('mtrust-'), 'project')))
  commitFiles(root, {
    '.muster.yaml':
      'clis: { gift: { command: sh, args: [gift.sh] } }\nlimits: { max_depth: 9 }\nhttp: { port: 1 }\n',
    'gift.sh': giftScript,
    'agents/helper.md': '---\nkind: main\nmcp: { evil: { command: evil, args: [--now] } }\n---\nHelp.\n',
    '.muster/crews/own.yaml':
      'description: x\nmembers: [{ role: developer }]\nchecks: { test: evil --all }\n',
    'workflows/gift.mjs': script,
    'workflows/research.mjs': script,
  })
  // Attributes last: adding a file would run the filter in the hand of whoever makes the test.
  runGit(root, 'config', 'filter.gift.clean', filter)
  runGit(root, 'config', 'filter.gift.smudge', filter)
  put(root, { '.gitattributes': 'kept.txt filter=gift\n' })
  runGit(root, '-c', 'filter.gift.clean=cat', '-c', 'filter.gift.smudge=cat', 'add', '-A')
  runGit(root, '-c', 'filter.gift.clean=cat', 'commit', '-qm', 'attributes')
  return { root, giftScript, ...arms }
}

/** `sm` in a folder, without a terminal; as a session when its token is given. */
const smIn = (m: Daemon, cwd: string, token?: string) => {
  const env = {
    PATH: process.env['PATH'],
    HOME: m.home,
    MUSTER_HOME: m.home,
    NODE_NO_WARNINGS: '1',
    ...(token && { MUSTER_TOKEN: token }),
  }
  return (...args: string[]) => runProgram(process.execPath, [smProgram, ...args], { cwd, env })
}

const statesOf = ({ items }: Pick<TrustView, 'items'>) =>
  items.map(({ kind, file, state }) => `${kind} ${file} ${state}`)

const projectOf = (stdout: string): TrustView => {
  const { projects } = commandOutputs.trust.parse(JSON.parse(stdout))
  const [project] = projects
  if (!project) throw new Error('no project was answered')
  return project
}

const endings = async (m: Daemon, root: string) => {
  const { events } = await m.client.listEvents({ type: 'project.trust.ended', limit: 1000 })
  return events
    .map(({ payload }) => payload as { root: string; file?: string; reason: string })
    .filter((payload) => payload.root === root)
    .map(({ file, reason }) => `${file ?? 'all'} ${reason}`)
}

const gift = { agent_type: 'gift', prompt: '' }
const tree = (branch: string) => ({ agent_type: 'shell', prompt: '', worktree: branch })

test('[MUS-309][MUS-310] what a cloned repository could run is held back, shown, run once it is trusted, and held back again when it changes', async () => {
  const m = await usual()
  const { root, fired, giftScript } = hostileProject()
  const sm = smIn(m, root)

  // Before: nothing of it runs, and what is refused names the way.
  await expect(m.client.spawnSession({ ...gift, working_dir: root })).rejects.toThrow(
    /may not set clis\.gift\.command .*see: sm trust/,
  )
  await expect(m.client.spawnSession({ ...tree('one'), working_dir: root })).rejects.toThrow(/see sm trust/)
  const problems = async () => {
    const { stdout } = await sm('agents', 'check', '--json')
    const found = commandOutputs['agents check'].parse(JSON.parse(stdout)).problems
    return found.filter(({ message }) => message.includes('trust'))
  }
  expect(await problems()).toMatchObject([{ message: expect.stringMatching(/^mcp is not used.*sm trust$/) }])
  const checksOf = async () => JSON.parse((await sm('crews', 'show', 'own', '--json')).stdout).checks
  expect(await checksOf()).toEqual({ custom: [] })
  expect((await sm('config', 'show')).stderr).toMatch(/may not set clis.gift.command .*see: sm trust/)

  // Nobody to ask: it is shown, and nothing is trusted.
  const shown = await sm('trust')
  expect(shown.code).toBe(2)
  for (const words of [
    'sets clis.gift.args to ["gift.sh"]',
    'sets limits.max_depth to 9',
    'runs the MCP server evil: {"command":"evil","args":["--now"]}',
    'runs the check "evil --all"',
    'filter.gift.clean = ',
    'runs unasked when you start it (tools: Bash; may change: **)',
    'is named by .muster.yaml',
    'may not set http.port, trusted or not',
    'add --yes',
  ])
    expect(shown.stderr.replaceAll(/\s+/g, ' ')).toContain(words)
  expect((await m.client.listTrust({})).projects.filter((one) => one.root === root)).toEqual([])

  // A session is no person, however it asks.
  const session = await m.spawnShell()
  await eventually(
    async () => existsSync(join(m.home, sessionFiles.folder, session.session_id, sessionFiles.token)),
    (isThere) => isThere,
  )
  const { token, client } = m.as(session.session_id)
  expect((await smIn(m, root, token)('trust', '--yes')).code).toBe(5)
  const [seen] = (await m.client.listTrust({ path: root })).projects
  const files = (seen?.items ?? []).map(({ kind, file, sha256 }) => ({ kind, file, sha256 }))
  await expect(client.trustProject({ root, files })).rejects.toMatchObject({ code: 'denied' })
  await expect(client.listTrust({})).rejects.toMatchObject({ code: 'denied' })
  await expect(client.endTrust({ path: root })).rejects.toMatchObject({ code: 'denied' })
  expect(fired()).toEqual([])

  // What was shown is what is trusted: not one file more or other.
  await expect(m.client.trustProject({ root, files: files.slice(1) })).rejects.toMatchObject({
    code: 'conflict',
  })
  const trusted = projectOf((await sm('trust', '--yes', '--json')).stdout)
  expect(statesOf(trusted)).toEqual([
    'settings .muster.yaml trusted',
    'agent agents/helper.md trusted',
    'crew .muster/crews/own.yaml trusted',
    'script workflows/gift.mjs trusted',
    'script workflows/research.mjs trusted',
    'git .git/config filter.gift trusted',
    'program gift.sh trusted',
  ])
  expect(await problems()).toEqual([])
  expect(await checksOf()).toEqual({ test: 'evil --all', custom: [] })
  await m.restart()
  await m.client.spawnSession({ ...gift, working_dir: root })
  const inTree = await m.client.spawnSession({ ...tree('two'), working_dir: root })
  await eventually(
    async () => fired(),
    (marks) => marks.length === 2,
  )
  expect(fired()).toEqual(['filter', 'gift'])
  // A file of that name in another folder, or in a work tree, is another program.
  put(root, { 'sub/gift.sh': 'exec evil\n' })
  await expect(m.client.spawnSession({ ...gift, working_dir: join(root, 'sub') })).rejects.toThrow(/gift/)
  await expect(
    m.client.spawnSession({ ...gift, working_dir: root, worktree: 'four', dry_run: true }),
  ).rejects.toThrow(/gift/)
  // A person who starts a script that they trust has agreed to it; an agent has nobody's agreement.
  const script = { script: 'gift', project_root: root, args: null, cli: 'own', limits: {} } as const
  const ran = await m.client.startScript(script)
  const asked = await client.startScript(script)
  const flow = (id: string) => m.client.getWorkflow({ id })
  await eventually(
    () => flow(ran.workflow_id),
    ({ status }) => status === 'completed',
  )
  await eventually(
    () => flow(asked.workflow_id),
    ({ approvals }) => approvals.length === 1,
  )
  // What is about the daemon stays with the operator's own file, and a shipped name means the shipped script.
  expect((await m.client.getConfig({})).find(({ key }) => key === 'http.port')).toBeUndefined()

  // An agent in a work tree gains nothing by what it writes there.
  const path = inTree.working_dir
  put(path, {
    '.muster.yaml':
      'clis: { gift: { command: sh, args: [gift.sh] } }\nlimits: { max_depth: 9 }\nhttp: { port: 1 }\n',
  })
  await expect(m.client.spawnSession({ ...gift, working_dir: path })).rejects.toThrow(/gift/)
  put(path, { '.muster.yaml': 'clis: { evil: { command: evil } }\n' })
  await expect(m.client.spawnSession({ agent_type: 'evil', prompt: '', working_dir: path })).rejects.toThrow(
    /evil/,
  )
  expect(await endings(m, root)).toEqual([])

  // The program behind a command is part of it.
  put(root, { 'gift.sh': 'exec evil\n' })
  await expect(m.client.spawnSession({ ...gift, working_dir: root })).rejects.toThrow(/gift/)
  await eventually(
    () => endings(m, root),
    (found) => found.length > 0,
  )
  // One that was seen to change is not trusted again because it changes back.
  put(root, { 'gift.sh': giftScript })
  await expect(m.client.spawnSession({ ...gift, working_dir: root })).rejects.toThrow(/gift/)
  put(root, { 'agents/helper.md': '---\nkind: main\nmcp: { evil: { command: worse } }\n---\nHelp.\n' })
  runGit(root, 'config', 'filter.gift.clean', 'worse')
  await expect(m.client.spawnSession({ ...tree('three'), working_dir: root })).rejects.toThrow(/see sm trust/)
  const listed = await sm('trust', '--list', root)
  expect(listed.code).toBe(0)
  expect(listed.stdout).toMatch(/^trusted +settings .*\.muster\.yaml$/m)
  for (const file of ['agents/helper.md', '.git/config filter.gift', 'gift.sh'])
    expect(listed.stdout).toMatch(new RegExp(`^changed .*${file.replaceAll('.', '\\.')}$`, 'm'))
  expect(await problems()).toHaveLength(1)
  await eventually(
    () => endings(m, root),
    (found) => found.length === 3,
  )
  await sm('trust', '--list')
  expect((await endings(m, root)).toSorted()).toEqual([
    '.git/config filter.gift changed',
    'agents/helper.md changed',
    'gift.sh changed',
  ])
  expect((await sm('doctor')).stdout).toMatch(/trusted projects.*agents\/helper\.md/s)

  // A person ends it for good.
  expect((await sm('trust', '--remove')).stdout).toBe(`${root} is no longer trusted.\n`)
  expect(await checksOf()).toEqual({ custom: [] })
  expect((await sm('trust', '--remove')).code).toBe(3)
})

test('[MUS-310] another repository in the same place, a link to a trusted one, or a copy of it is not trusted', async () => {
  const m = await usual()
  const { root } = hostileProject()
  expect((await smIn(m, root)('trust', '--yes')).code).toBe(0)
  const dryRun = (folder: string) =>
    m.client
      .spawnSession({ ...gift, working_dir: folder, dry_run: true })
      .then(({ dry_run }) => dry_run?.argv)
  expect(await dryRun(root)).toEqual(['sh', 'gift.sh'])
  const copy = `${root}-copy`
  cpSync(root, copy, { recursive: true })
  await expect(dryRun(copy)).rejects.toThrow(/gift/)
  renameSync(root, `${root}-old`)
  renameSync(copy, root)
  writeFileSync(join(root, '.muster.yaml'), 'clis: { gift: { command: evil } }\n')
  await expect(dryRun(root)).rejects.toThrow(/gift/)
  rmSync(root, { recursive: true })
  const list = await smIn(m, m.home)('trust', '--list')
  expect(list.stdout).toMatch(/is not a folder/)
  expect((await smIn(m, m.home)('trust', '--remove', root)).code).toBe(0)
})

test('[MUS-310] a session is started again only while the settings that it was started with are trusted', async () => {
  const m = await usual()
  const root = realpathSync(repository(join(tempFolder('mtrust-'), 'project')))
  const settings = 'claude: { default_args: [--verbose] }\n'
  put(root, { '.muster.yaml': settings })
  const sm = smIn(m, root)
  expect((await sm('trust', '--yes')).code).toBe(0)
  const spawned = await m.client.spawnSession({ agent_type: 'claude', prompt: '', working_dir: root })
  await m.client.killSession({ id: spawned.session_id })
  put(root, { '.muster.yaml': 'claude: { default_args: [--quiet] }\n' })
  await expect(m.client.resumeSession({ id: spawned.session_id })).rejects.toThrow(/no longer trusted/)
  // Trusted anew, but not what it was started with.
  expect((await sm('trust', '--yes')).code).toBe(0)
  await expect(m.client.resumeSession({ id: spawned.session_id })).rejects.toThrow(/no longer trusted/)
  put(root, { '.muster.yaml': settings })
  expect((await sm('trust', '--yes')).code).toBe(0)
  await m.client.resumeSession({ id: spawned.session_id })
})

test('[MUS-309] settings below the root of a repository, and a filter that is a file of it, are told and never trusted', async () => {
  const m = await usual()
  const root = realpathSync(repository(join(tempFolder('mtrust-'), 'project')))
  put(root, {
    'sub/.muster.yaml': 'clis: { gift: { command: gift } }\n',
    'agents/helper.md': '---\nkind: main\nidle_prompt: Continue.\n---\nHelp.\n',
    'filter.sh': 'cat\n',
  })
  runGit(root, 'config', 'filter.gift.clean', 'sh filter.sh')
  const { stdout } = await smIn(m, join(root, 'sub'))('trust', '--yes', '--json')
  expect(statesOf(projectOf(stdout))).toEqual(['agent agents/helper.md trusted'])
  const listed = async (path?: string) => (await m.client.listTrust(path ? { path } : {})).projects
  const [project] = await listed(join(root, 'sub'))
  expect(project?.notes).toEqual([
    expect.stringMatching(/^\.git\/config filter\.gift runs filter\.sh, /),
    expect.stringMatching(/^sub\/\.muster\.yaml is not in .* itself, so it is never trusted$/),
  ])
  await expect(m.client.spawnSession({ ...gift, working_dir: join(root, 'sub') })).rejects.toThrow(/gift/)
  // What changed and then went is forgotten, without a question.
  put(root, { 'agents/helper.md': '---\nkind: main\nidle_prompt: Stop.\n---\nHelp.\n' })
  expect((await listed(root)).flatMap(statesOf)).toEqual(['agent agents/helper.md ended'])
  rmSync(join(root, 'agents'), { recursive: true })
  expect((await listed(root)).flatMap(statesOf)).toEqual(['agent agents/helper.md gone'])
  expect((await smIn(m, root)('trust')).stdout).toContain('needs trust.')
  expect((await listed()).filter((one) => one.root === root)).toEqual([])
})
