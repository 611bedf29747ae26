import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root, runProgram } from '../cli/run-sm.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** What git has of this checkout, and nothing that was installed or built. */
function freshCheckout(): string {
  const folder = join(tempFolder('first-'), 'muster')
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files) {
    if (!/^(?:sm|scripts|src|agents|crews|workflows|package|tsconfig)/.test(file)) continue
    if (!existsSync(join(root, file))) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  return folder
}

/** An npm that has everything at hand: it needs no network and installs the packages of this checkout. */
function localNpm(folder: string): string {
  const bin = join(dirname(folder), 'bin')
  mkdirSync(bin)
  const from = join(root, 'node_modules')
  const install = `mkdir node_modules; for e in "${from}"/* "${from}"/.bin; do ln -s "$e" node_modules/; done`
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$1" >> "${bin}/calls"\n${install}\n`)
  chmodSync(join(bin, 'npm'), 0o755)
  return bin
}

test('[MUS-212] from a fresh checkout to a running daemon: installed, built, started, shown, and nothing asked', async () => {
  const folder = freshCheckout()
  const home = join(dirname(folder), 'home')
  mkdirSync(home)
  const env = { PATH: `${localNpm(folder)}:/usr/bin:/bin`, HOME: home, MUSTER_HOME: join(home, 'state') }
  onTestFinished(async () => {
    await runProgram(join(folder, 'sm'), ['down', '--sessions'], { cwd: folder, env })
  })
  const { code, stdout, stderr } = await runProgram(process.execPath, [join(folder, 'scripts/start.mjs')], {
    cwd: folder,
    env,
  })
  expect(`${code}\n${stderr}`).toMatch(/^0\n[\s\S]*muster: building/)
  expect(existsSync(join(folder, 'dist'))).toBe(true)
  const [, url = ''] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(stdout) ?? []
  expect(await (await fetch(`${url}/api/v1/health`)).json()).toMatchObject({ name: 'muster', url })
  expect(await (await fetch(url)).text()).toContain('<!doctype html>')
  const next = stdout.split('\nNext\n')[1] ?? ''
  const commands = next.trim().split('\n')
  expect(commands.map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
    './sm open',
    './sm doctor',
    './sm help',
  ])
  expect((await runProgram(join(folder, 'sm'), ['help'], { cwd: folder, env })).code).toBe(0)
})
