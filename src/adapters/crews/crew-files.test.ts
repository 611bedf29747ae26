import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crewFiles } from './crew-files.ts'

let base: string
const signal = new AbortController().signal
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'muster-crews-')))
})
afterEach(() => rm(base, { recursive: true, force: true }))

const write = async (file: string, ...lines: string[]) => {
  await mkdir(dirname(join(base, file)), { recursive: true })
  await writeFile(join(base, file), ['members: [{role: developer}]', ...lines, ''].join('\n'))
}
const files = () => crewFiles({ shippedDir: join(base, 'shipped'), userDir: join(base, 'user') })
const load = (trusted = true) => files().load({ root: join(base, 'repo'), trusts: () => trusted }, signal)
const said = (problems: readonly { file: string; line: number; severity: string; message: string }[]) =>
  problems.map(({ file, line, severity, message }) =>
    `${file.slice(base.length + 1)}:${line} ${severity} ${message}`.replaceAll(`${base}/`, ''),
  )

test('[MUS-277] crews are what the folders hold: project over user over shipped, and the winner keeps the aliases', async () => {
  await write('shipped/a.yaml', 'aliases: [first]')
  await write('shipped/b.yaml')
  await write('user/a.yml', 'name: A')
  await write('repo/.muster/crews/b.yaml')
  await write('repo/.muster/crews/c.yaml')
  await write('repo/crews/d.yaml')
  const { crews, shadowed, problems } = await load()
  expect(crews.map(({ name, source, aliases }) => [name, source, aliases])).toEqual([
    ['a', 'user', ['first']],
    ['b', 'project', []],
    ['c', 'project', []],
  ])
  expect(shadowed.map(({ name, file, by }) => [name, file, by])).toEqual([
    ['a', join(base, 'shipped/a.yaml'), join(base, 'user/a.yml')],
    ['b', join(base, 'shipped/b.yaml'), join(base, 'repo/.muster/crews/b.yaml')],
  ])
  expect(problems).toEqual([])
  expect((await files().load(undefined, signal)).crews.map(({ name }) => name)).toEqual(['a', 'b'])
})

test('[MUS-277] a broken or repeated file is left out by name and line; the others load', async () => {
  await write('user/bad.yaml', 'patern: x')
  await write('user/one.yaml', 'name: same')
  await write('user/two.yaml', 'name: Same')
  await write('user/.hidden.yaml')
  await write('user/notes.md')
  await writeFile(join(base, 'user/big.yaml'), '#'.repeat(1024 * 1024 + 1))
  const { crews, problems } = await load()
  expect(crews.map(({ name }) => name)).toEqual(['same'])
  expect(said(problems)).toEqual([
    'user/bad.yaml:2 error patern: unknown key; did you mean pattern?',
    'user/big.yaml:1 error this file is larger than 1048576 bytes',
    'user/two.yaml:2 error the crew same is already defined by user/one.yaml',
  ])
})

test('[MUS-208] a link out of the project is refused', async () => {
  await write('outside.yaml')
  await mkdir(join(base, 'repo/.muster/crews'), { recursive: true })
  await symlink(join(base, 'outside.yaml'), join(base, 'repo/.muster/crews/out.yaml'))
  const { crews, problems } = await load()
  expect(crews).toEqual([])
  expect(said(problems)).toEqual([
    'repo/.muster/crews/out.yaml:1 error this file is a link that leaves the project',
  ])
})

test('[MUS-277] an untrusted project replaces no crew, runs no commands of its own and waves nothing through', async () => {
  await write('shipped/pair.yaml', 'aliases: [two]')
  await write('repo/.muster/crews/pair.yaml')
  await write('repo/.muster/crews/two.yaml')
  await write(
    'repo/.muster/crews/own.yaml',
    'checks: { test: evil, custom: [{ name: x, command: evil }] }',
    'on_max_iterations: force_approve',
  )
  await write('repo/.muster/crews/plain.yaml', 'on_max_iterations: abort')
  const held = await load(false)
  expect(
    held.crews.map(({ name, source, checks, onMaxIterations }) => [name, source, checks, onMaxIterations]),
  ).toEqual([
    ['own', 'project', { custom: [] }, 'human_review'],
    ['pair', 'shipped', { custom: [] }, 'human_review'],
    ['plain', 'project', { custom: [] }, 'abort'],
  ])
  expect(said(held.problems)).toEqual([
    'repo/.muster/crews/own.yaml:2 warning checks is not used: this file is not trusted as it is; see: sm trust',
    'repo/.muster/crews/own.yaml:3 warning on_max_iterations is not used: this file is not trusted as it is; see: sm trust',
    'repo/.muster/crews/pair.yaml:1 error may not replace the crew pair: this file is not trusted as it is; see: sm trust, or copy it to your own crews folder',
    'repo/.muster/crews/two.yaml:1 error may not replace the crew two: this file is not trusted as it is; see: sm trust, or copy it to your own crews folder',
  ])
  const trusted = (await load(true)).crews.find(({ name }) => name === 'own')
  expect(trusted).toMatchObject({
    checks: { test: 'evil', custom: [{ name: 'x', command: 'evil' }] },
    onMaxIterations: 'force_approve',
  })
})

test('[MUS-277] a file that was changed is read again', async () => {
  const same = files()
  await write('user/a.yaml', 'description: before')
  const words = async () => (await same.load(undefined, signal)).crews.map(({ description }) => description)
  expect(await words()).toEqual(['before'])
  await write('user/a.yaml', 'description: after')
  expect(await words()).toEqual(['after'])
})
