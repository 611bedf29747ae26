import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadAgents } from '../../src/adapters/agents/agent-files.ts'
import type { CommandOutput } from '../../src/contract/cli/outputs.ts'
import { smProgram } from '../support/programs.ts'
import { sized } from '../support/size.ts'
import { emptyEnvironment, root, runProgram, temporaryFolder } from './run-sm.ts'

const signal = new AbortController().signal

/** `sm` in a project of its own. */
function project() {
  const env = emptyEnvironment({ NODE_NO_WARNINGS: '1' })
  const cwd = temporaryFolder()
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, 'agents', ...args], { env, cwd })
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await sm(...args, '--json')
    expect(`${code} ${stderr}`).toBe('0 ')
    return JSON.parse(stdout) as T
  }
  const user = join(env['HOME'] as string, '.config/muster/agents')
  return { sm, json, cwd, folder: join(cwd, 'agents'), user }
}

type Made = CommandOutput<'agents new'>
type Shown = CommandOutput<'agents show'>

describe('sm agents new', () => {
  test('[RUN-2, MUS-263] writes an agent of either kind that the check accepts and that says how to go on', async () => {
    const { sm, json, folder, user } = project()
    const made = await sm('new', 'Migrator', '--kind', 'subagent')
    expect(made.stdout).toContain(`Wrote ${join(folder, 'migrator.md')} (project, subagent).`)
    expect(made.stdout).toContain('sm agents check')
    expect(made.stdout).toContain('sm spawn migrator')
    expect(await json<Made>('new', 'mine', '--user')).toEqual({
      name: 'mine',
      kind: 'main',
      source: 'user',
      file: join(user, 'mine.md'),
    })
    expect(await json('check')).toMatchObject({ problems: [], shadowed: [] })
    expect(await json<Shown>('show', 'migrator')).toMatchObject({ kind: 'subagent', source: 'project' })
    // Every field is explained where it stands.
    const lines = readFileSync(join(folder, 'migrator.md'), 'utf8').split('\n---\n')[0]?.split('\n').slice(1)
    const fields = lines?.filter((line) => !line.startsWith('#')) ?? []
    expect(fields.map((line) => line.split(':')[0])).toEqual([
      'name',
      'description',
      'kind',
      'model',
      'tools',
      'policy',
    ])
    expect(lines?.filter((line) => /^# \S.{20}/.test(line))).toHaveLength(fields.length)
  })

  test('[MUS-263] --from takes over the gates and the prompt; a copy as subagent gives up what it may not have', async () => {
    const { json } = project()
    await json<Made>('new', 'second-lead', '--from', 'lead')
    await json<Made>('new', 'helper', '--from', 'Lead', '--kind', 'subagent')
    await json<Made>('new', 'checker', '--from', 'tester')
    expect(await json('check')).toMatchObject({ problems: [] })
    const [lead, second, helper] = await Promise.all(
      ['lead', 'second-lead', 'helper'].map((name) => json<Shown>('show', name)),
    )
    const { tools, policy, prompt, model, kind } = lead as Shown
    expect(second).toMatchObject({ tools, policy, prompt, model, kind, source: 'project' })
    expect(helper).toMatchObject({ kind: 'subagent', policy: { allow: ['Finalize'] } })
    expect(helper?.tools).toEqual(tools.filter((tool) => !['Task', 'SendMessage', 'Handoff'].includes(tool)))
  })

  test.each([
    ['a name with a path', ['../x'], 2, 'letters, digits'],
    ['a name that no file of an agent has', ['README'], 2, 'choose another name'],
    ['a shipped agent', ['Reviewer'], 4, '--from'],
    ['a kind that is none', ['x', '--kind', 'boss'], 2, 'main, subagent'],
    ['an original that is none', ['x', '--from', 'nobody'], 3, 'no agent type nobody'],
  ])('[MUS-263] %s is refused, and nothing is written', async (_, args, exit, words) => {
    const { sm, folder, user } = project()
    const { code, stderr } = await sm('new', ...args)
    expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringContaining(words) })
    expect([existsSync(folder), existsSync(user)]).toEqual([false, false])
  })

  test('[MUS-263] a file that is there is never touched, not even one that does not load', async () => {
    const { sm, folder } = project()
    mkdirSync(folder)
    const file = join(folder, 'odd.md')
    writeFileSync(file, '---\nkind: nonsense\n---\n')
    expect(await sm('new', 'odd')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('sm agents check'),
    })
    expect(readFileSync(file, 'utf8')).toBe('---\nkind: nonsense\n---\n')
    await sm('new', 'other')
    expect(await sm('new', 'OTHER')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('edit that file'),
    })
  })

  test('[MUS-263] a folder of agents that is a link out of the project is not written to', async () => {
    const { sm, folder } = project()
    const elsewhere = temporaryFolder()
    symlinkSync(elsewhere, folder)
    expect(await sm('new', 'x')).toMatchObject({ code: 5, stderr: expect.stringContaining('--user') })
    expect(readdirSync(elsewhere)).toEqual([])
  })
})

test('[MUS-263] a copy of each shipped agent means what the original means', async () => {
  const { sm, user } = project()
  const shippedDir = join(root, 'agents')
  const load = (dir: string) => loadAgents({ folders: [{ source: 'user', dir }] }, signal)
  const shipped = await load(shippedDir)
  const tried = shipped.agents.slice(0, sized(shipped.agents.length, 3))
  for (const { name } of tried)
    expect(await sm('new', `own-${name}`, '--from', name, '--user')).toMatchObject({ code: 0, stderr: '' })
  const copies = await load(user)
  expect(copies.problems).toEqual([])
  const meaning = (agents: typeof shipped.agents) =>
    agents.map(({ name, file: _file, lines: _lines, ...rest }) => ({
      ...rest,
      name: name.replace('own-', ''),
    }))
  expect(meaning(copies.agents)).toEqual(meaning(tried))
})
