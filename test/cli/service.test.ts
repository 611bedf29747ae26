import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { serviceUnit } from '../../src/cli/commands/service.ts'
import { tempFolder } from '../support/temp-journal.ts'

const run = promisify(execFile)
const entry = join(import.meta.dirname, '../../src/cli/main.ts')

/** This machine has no systemd: what is asked of it is written down by a program in its place. */
function machine(exit = 0) {
  const home = tempFolder('muster-service-')
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> ${home}/asked\nexit ${exit}\n`)
  chmodSync(join(bin, 'systemctl'), 0o755)
  const env = { HOME: home, MUSTER_HOME: join(home, 'state'), PATH: `${bin}:${process.env['PATH'] ?? ''}` }
  const sm = (...args: string[]) =>
    run(process.execPath, [entry, ...args], { env: { ...env, NODE_NO_WARNINGS: '1' } })
  const asked = () => readFileSync(join(home, 'asked'), 'utf8').trim().split('\n')
  return { home, sm, asked, unit: join(home, '.config/systemd/user/muster.service') }
}

test('[MUS-232] the unit ends the daemon alone, and takes every character of a path literally', () => {
  const program = { node: '/opt/no de/bin/node', entry: '/opt/100%/$HOME/"sm".mjs', daemonArgs: [] }
  const text = serviceUnit(program, '/home/a b')
  expect(text).toContain('KillMode=process')
  expect(text).toContain('ExecStart="/opt/no de/bin/node" "/opt/100%%/$$HOME/\\"sm\\".mjs" up --foreground')
  expect(text).toContain('Environment="MUSTER_HOME=/home/a b"')
})

test('[MUS-232] install writes, enables and starts the unit; uninstall takes it away', async () => {
  const { sm, asked, unit } = machine()
  expect((await sm('service', 'install')).stdout).toContain(unit)
  expect(readFileSync(unit, 'utf8')).toContain('up --foreground')
  await sm('service', 'uninstall')
  expect(existsSync(unit)).toBe(false)
  expect(asked()).toEqual([
    '--user show-environment',
    '--user daemon-reload',
    '--user enable --now muster.service',
    '--user disable --now muster.service',
    '--user daemon-reload',
  ])
})

test('[MUS-232] without a systemd nothing is written, and it says what to do instead', async () => {
  const { sm, unit } = machine(1)
  await expect(sm('service', 'install')).rejects.toMatchObject({
    code: 6,
    stderr: expect.stringContaining('sm up'),
  })
  expect(existsSync(unit)).toBe(false)
})
