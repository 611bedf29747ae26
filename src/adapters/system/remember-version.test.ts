import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { codexCli } from '../codex/codex-cli.ts'
import { systemClock } from './clock.ts'
import { rememberVersion } from './remember-version.ts'
import { findProgram } from './run-program.ts'

const { signal } = new AbortController()

function fake() {
  const folder = tempFolder('fake-cli-')
  const asked = join(folder, 'asked')
  const file = join(folder, 'codex')
  const write = (version: string) =>
    writeFileSync(file, `#!/bin/sh\necho x >> ${asked}\necho codex-cli ${version}\n`, { mode: 0o755 })
  write('0.1.0')
  let now = 0
  const cli = rememberVersion(codexCli(), { path: folder, clock: { ...systemClock, now: () => now } })
  return {
    write,
    file,
    ask: () => cli.version(file, signal),
    times: () => readFileSync(asked, 'utf8').split('x').length - 1,
    later: (ms: number) => {
      now += ms
    },
  }
}

test('[MUS-241] a program is asked for its version once a minute', async () => {
  const { ask, times, later } = fake()
  expect([await ask(), await ask(), await ask()]).toEqual(['0.1.0', '0.1.0', '0.1.0'])
  expect(times()).toBe(1)
  later(60_000)
  await ask()
  expect(times()).toBe(2)
})

test('[MUS-241] a program that was replaced is asked again at once', async () => {
  const { ask, write } = fake()
  await ask()
  write('0.20.0')
  expect(await ask()).toBe('0.20.0')
})

test('[MUS-241] a program is found as a shell finds it', async () => {
  const folder = tempFolder('find-')
  mkdirSync(join(folder, 'a', 'tool'), { recursive: true })
  mkdirSync(join(folder, 'b'))
  mkdirSync(join(folder, 'c'))
  writeFileSync(join(folder, 'b', 'tool'), '', { mode: 0o644 })
  writeFileSync(join(folder, 'c', 'tool'), '', { mode: 0o755 })
  const path = ['a', 'b', 'c'].map((name) => join(folder, name)).join(':')
  expect(await findProgram('tool', path)).toBe(join(folder, 'c', 'tool'))
  expect(await findProgram(join(folder, 'b', 'tool'), path)).toBeUndefined()
  expect(await findProgram('none', path)).toBeUndefined()
  expect(await findProgram('tool', '')).toBeUndefined()
})
