import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentFiles } from './agent-files.ts'

let base: string
const signal = new AbortController().signal
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'muster-agents-')))
})
afterEach(() => rm(base, { recursive: true, force: true }))

const write = async (file: string, ...front: string[]) => {
  await mkdir(dirname(join(base, file)), { recursive: true })
  await writeFile(join(base, file), ['---', ...front, '---', `From ${file}`, ''].join('\n'))
}
const definitions = () => agentFiles({ shippedDir: join(base, 'shipped'), userDir: join(base, 'user') })
const load = (trusted = true) =>
  definitions().load({ root: join(base, 'repo'), trusts: () => trusted }, signal)
const prompts = async (trusted = true) =>
  Object.fromEntries((await load(trusted)).agents.map(({ name, prompt }) => [name, prompt]))

test('[RUN-1][MUS-150] agents are what the folders hold: project over user over shipped, in any case', async () => {
  await write('shipped/a.md', 'name: A')
  await write('shipped/b.md')
  await write('shipped/c.md')
  await write('user/b.md', 'name: B')
  await write('user/c.md')
  await write('repo/.muster/agents/c.md', 'name: C')
  await write('repo/agents/d.md', 'name: d')
  const { agents, shadowed, problems } = await load()
  expect(agents.map(({ name, source, file }) => [name, source, file])).toEqual([
    ['a', 'shipped', join(base, 'shipped/a.md')],
    ['b', 'user', join(base, 'user/b.md')],
    ['c', 'project', join(base, 'repo/.muster/agents/c.md')],
    ['d', 'project', join(base, 'repo/agents/d.md')],
  ])
  expect(shadowed).toEqual([
    { name: 'b', source: 'shipped', file: join(base, 'shipped/b.md'), by: join(base, 'user/b.md') },
    { name: 'c', source: 'shipped', file: join(base, 'shipped/c.md'), by: join(base, 'user/c.md') },
    { name: 'c', source: 'user', file: join(base, 'user/c.md'), by: join(base, 'repo/.muster/agents/c.md') },
  ])
  expect(problems).toEqual([])
})

test('[RUN-1] without any folder there is no agent and no problem', async () => {
  expect(await load()).toEqual({ agents: [], problems: [], shadowed: [], held: [] })
  expect(await definitions().load(undefined, signal)).toEqual({
    agents: [],
    problems: [],
    shadowed: [],
    held: [],
  })
})

test('[MUS-149][MUS-153] a broken or repeated file is left out by name, in the order of names; the others load', async () => {
  await write('user/z.md', 'name: same')
  await write('user/m.md', 'name: Same')
  await write('user/b.md', 'kind: no')
  await write('user/ok.md')
  await mkdir(join(base, 'user/dir.md'))
  await writeFile(join(base, 'user/big.md'), 'x'.repeat(1024 * 1024 + 1))
  const { agents, problems } = await load()
  expect(agents.map(({ name, prompt }) => [name, prompt])).toEqual([
    ['ok', 'From user/ok.md'],
    ['same', 'From user/m.md'],
  ])
  expect(problems).toEqual([
    expect.objectContaining({ file: join(base, 'user/b.md'), line: 2, severity: 'error' }),
    expect.objectContaining({
      file: join(base, 'user/big.md'),
      message: 'this file is larger than 1048576 bytes',
    }),
    expect.objectContaining({ file: join(base, 'user/dir.md'), message: 'this file is not a regular file' }),
    {
      file: join(base, 'user/z.md'),
      line: 2,
      severity: 'error',
      message: `the agent same is already defined by ${join(base, 'user/m.md')}`,
    },
  ])
})

test('[MUS-149] hidden files, other files and a README are no agents', async () => {
  await write('user/.hidden.md')
  await write('user/notes.txt')
  await write('user/README.md')
  expect(await load()).toEqual({ agents: [], problems: [], shadowed: [], held: [] })
})

test("[MUS-149] Markdown without frontmatter in a project's agents folder is none of ours, elsewhere it is named", async () => {
  for (const dir of ['repo/agents', 'repo/.muster/agents']) {
    await mkdir(join(base, dir), { recursive: true })
    await writeFile(join(base, dir, 'guide.md'), '# Guide\n')
  }
  await write('repo/agents/odd.md', 'kind: no')
  expect((await load()).problems.map(({ file }) => file)).toEqual([
    join(base, 'repo/.muster/agents/guide.md'),
    join(base, 'repo/agents/odd.md'),
  ])
})

test('[MUS-208] a link out of the project is refused, one inside it is followed', async () => {
  await write('outside.md', 'name: outside')
  await write('repo/docs/inside.md', 'name: inside')
  await mkdir(join(base, 'repo/.muster/agents'), { recursive: true })
  await symlink(join(base, 'outside.md'), join(base, 'repo/.muster/agents/out.md'))
  await symlink(join(base, 'repo/docs/inside.md'), join(base, 'repo/.muster/agents/in.md'))
  await symlink(join(base, 'gone.md'), join(base, 'repo/.muster/agents/gone.md'))
  const { agents, problems } = await load()
  expect(agents.map(({ name }) => name)).toEqual(['inside'])
  expect(problems).toEqual([
    expect.objectContaining({
      file: join(base, 'repo/.muster/agents/out.md'),
      message: 'this file is a link that leaves the project',
    }),
  ])
})

test('[MUS-154] an alias follows its agent into the layer above, and a name is stronger than an alias', async () => {
  await write('shipped/developer.md', 'aliases: [Engineer, Coder]')
  await write('user/developer.md', 'tools: [Read]')
  await write('repo/agents/coder.md')
  const { agents, problems } = await load()
  expect(agents.map(({ name, source, aliases }) => [name, source, aliases])).toEqual([
    ['coder', 'project', []],
    ['developer', 'user', ['engineer']],
  ])
  expect(problems).toEqual([])
})

test('[MUS-149] an alias that two agents of one layer want goes to the first and is named', async () => {
  await write('user/a.md', 'name: a', 'aliases: [x]')
  await write('user/b.md', 'name: b', 'aliases: [X, a]')
  const { agents, problems } = await load()
  expect(agents.map(({ aliases }) => aliases)).toEqual([['x'], []])
  expect(problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)).toEqual([
    '3 warning the alias x already means a',
    '3 warning the alias a already means a',
  ])
})

test('[MUS-128] an untrusted project adds agents but replaces none, by name or by alias', async () => {
  await write('shipped/reviewer.md', 'aliases: [Critic]')
  await write('repo/agents/reviewer.md', 'tools: ["*"]')
  await write('repo/agents/critic.md')
  await write('repo/agents/fresh.md', 'aliases: [critic, reviewer, helper]')
  expect(await prompts(false)).toEqual({
    reviewer: 'From shipped/reviewer.md',
    fresh: 'From repo/agents/fresh.md',
  })
  const { agents, problems } = await load(false)
  expect(agents.map(({ name, aliases }) => [name, aliases])).toEqual([
    ['fresh', ['helper']],
    ['reviewer', ['critic']],
  ])
  expect(problems.filter(({ message }) => message.includes('not trusted'))).toHaveLength(2)
  expect(await prompts(true)).toEqual({
    critic: 'From repo/agents/critic.md',
    fresh: 'From repo/agents/fresh.md',
    reviewer: 'From repo/agents/reviewer.md',
  })
})

test('[MUS-128] an untrusted project starts no server and prompts nobody while idle', async () => {
  await write('repo/agents/a.md', 'mcp: {x: {command: evil}}', 'idle_prompt: go on', 'idle_interval_secs: 5')
  const held = await load(false)
  expect(held.agents[0]).toMatchObject({ mcp: undefined, idlePrompt: undefined, idleIntervalSecs: undefined })
  expect(held.problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
    '2 mcp is not used: this file is not trusted as it is; see: sm trust',
    '3 idle_prompt is not used: this file is not trusted as it is; see: sm trust',
  ])
  expect((await load(true)).agents[0]).toMatchObject({ mcp: { x: { command: 'evil' } }, idlePrompt: 'go on' })
})
