import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CommandOutput } from '../../src/contract/cli/outputs.ts'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'
import { emptyEnvironment, root, runProgram, temporaryFolder } from './run-sm.ts'

/** `sm crews` in a project of its own. */
function project() {
  const env = emptyEnvironment({ NODE_NO_WARNINGS: '1' })
  const cwd = temporaryFolder()
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, 'crews', ...args], { env, cwd })
  const userDir = join(env['HOME'] as string, '.config/muster')
  const own = join(cwd, '.muster/crews')
  for (const dir of [own, join(userDir, 'crews')]) mkdirSync(dir, { recursive: true })
  const write = (file: string, ...lines: string[]) => writeFileSync(file, `${lines.join('\n')}\n`)
  return { sm, own, userDir, write }
}

test('[MUS-277] sm crews lists and shows the shipped crews and those of the user, with any program of the settings', async () => {
  const { sm, userDir, write } = project()
  write(join(userDir, 'config.yaml'), 'clis: { aider: { command: aider } }')
  write(
    join(userDir, 'crews/mine.yaml'),
    'description: My own',
    'members: [{ role: developer, cli: aider }]',
    'checks: { test: npm test }',
  )
  const listed = await sm('list', '--json')
  expect(`${listed.code} ${listed.stderr}`).toBe('0 ')
  const crews = commandOutputs['crews list'].parse(JSON.parse(listed.stdout))
  expect(crews.map(({ name, source }) => `${name} ${source}`)).toEqual([
    'balanced shipped',
    'council shipped',
    'mine user',
    'pair shipped',
    'peers shipped',
    'relay shipped',
    'review-only shipped',
    'risk-aware shipped',
    'solo shipped',
  ])
  const shown = commandOutputs['crews show'].parse(
    JSON.parse((await sm('show', 'Three-Agent', '--json')).stdout),
  )
  expect(shown).toMatchObject({ name: 'balanced', file: join(root, 'crews/balanced.yaml') })
  expect((await sm('show', 'mine')).stdout).toMatch(
    /checks +npm test\n(.|\n)*developer +work +developer +aider/,
  )
  expect(await sm('check')).toEqual({
    code: 0,
    stdout: '9 crews loaded, 0 files skipped, 0 warnings.\n',
    stderr: '',
  })
})

test('[MUS-277] sm crews check names each problem with its line and exits 1; an unknown crew is exit 3', async () => {
  const { sm, own, write } = project()
  write(join(own, 'pair.yaml'), 'members: [{ role: developer }]')
  write(join(own, 'bad.yaml'), 'description: x', 'members:', '  - role: developer', '    cli: codx')
  write(join(own, 'tests.yaml'), 'description: x', 'members: [{ role: developer }]', 'checks: { test: evil }')
  const { code, stdout } = await sm('check', '--json')
  const { crews, problems } = JSON.parse(stdout) as CommandOutput<'crews check'>
  expect({ code, crews }).toEqual({ code: 1, crews: 9 })
  expect(
    problems.map(({ file, line, severity, message }) => `${file}:${line} ${severity} ${message}`),
  ).toEqual([
    `${join(own, 'bad.yaml')}:4 error codx is not a CLI; did you mean codex?`,
    `${join(own, 'pair.yaml')}:1 error may not replace the crew pair: this file is not trusted as it is; see: sm trust, or copy it to your own crews folder`,
    `${join(own, 'tests.yaml')}:3 warning checks is not used: this file is not trusted as it is; see: sm trust`,
  ])
  expect((await sm('list')).stderr).toContain('3 problems in crew files; see: sm crews check')
  expect(await sm('show', 'bad')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no crew called bad; a file was skipped, see: sm crews check'),
  })
  expect(await sm('show', 'balancd')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no crew called balancd; did you mean balanced?'),
  })
})

test('[MUS-277] the daemon lists crews as they are now, and answers for one by name or alias', async () => {
  const home = temporaryFolder()
  const daemon = await startDaemonProcess(home)
  onTestFinished(() => void daemon.kill('SIGTERM'))
  const names = async () => (await daemon.client.listCrews({})).crews.map(({ name }) => name)
  expect(await names()).toEqual([
    'balanced',
    'council',
    'pair',
    'peers',
    'relay',
    'review-only',
    'risk-aware',
    'solo',
  ])
  mkdirSync(join(home, '.config/muster/crews'), { recursive: true })
  writeFileSync(join(home, '.config/muster/crews/mine.yaml'), 'members: [{ role: developer, cli: codex }]\n')
  expect(await names()).toContain('mine')
  expect(await daemon.client.getCrew({ name: 'THREE-agent' })).toMatchObject({
    name: 'balanced',
    flow: 'planned',
  })
  await expect(daemon.client.getCrew({ name: 'mien' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('did you mean mine?'),
  })
})
