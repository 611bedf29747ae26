import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { hookSettings } from './hook-settings.ts'
import { shellQuoted } from './shell-quoted.ts'
import { statusLineScript } from './status-line.ts'

const sh = (line: string, input = '') => spawnSync('sh', ['-c', line], { input, encoding: 'utf8' })

test('[MUS-207] a shell reads every argument back as it was', () => {
  const argument = fc.oneof(
    fc.constantFrom("it's", '$(id)', '`id`', '"', '\\', '', '-n', 'a b', '\n'),
    fc.string(),
  )
  fc.assert(
    fc.property(
      fc.array(
        argument.filter((text) => !text.includes('\0')),
        { maxLength: 4 },
      ),
      (argv) => {
        const { stdout } = sh(`for arg in ${shellQuoted(argv)}; do printf '%s\\036' "$arg"; done`)
        expect(stdout.split('\u001e').slice(0, -1)).toEqual(argv)
      },
    ),
    runs(40),
  )
})

test('[MUS-209][MUS-236] a gate that cannot be asked, or fails in any way, is closed', () => {
  const exitOf = (...hookCommand: string[]) => {
    const about = {
      version: '2.1.197',
      hookUrl: 'http://127.0.0.1:9',
      hookCommand,
      role: { text: '', tools: ['Read'] },
    }
    const [group] = hookSettings(about)['PreToolUse'] as [{ hooks: { command: string }[] }]
    return sh(group.hooks[0]?.command ?? '', '{}').status
  }
  expect(exitOf('/no/such/program')).toBe(2)
  expect(exitOf('sh', '-c', 'exit 1')).toBe(2)
  expect(exitOf('sh', '-c', 'kill -9 $$')).toBe(2)
  expect(exitOf('sh', '-c', 'exit 2')).toBe(2)
  expect(exitOf('sh', '-c', 'cat')).toBe(0)
})

test('[MUS-134] a status line reports the newest of what it is given, and shows the user’s own', async () => {
  const folder = tempFolder("claude it's ")
  const reports = join(folder, 'reports')
  const reporter = join(folder, 'report.sh')
  writeFileSync(reporter, `echo "$1 $(cat)" >> ${shellQuoted([reports])}\n`)
  const script = statusLineScript({
    folder,
    hookCommand: ['sh', reporter],
    theirs: `read line; echo "I see $line"`,
  })
  const path = join(folder, 'statusline.sh')
  writeFileSync(path, script)
  for (const n of [1, 2, 3])
    expect(sh(shellQuoted(['sh', path]), `{"n":${n}}`)).toMatchObject({
      stdout: `I see {"n":${n}}\n`,
      stderr: '',
      status: 0,
    })
  await expect.poll(() => existsSync(reports) && readFileSync(reports, 'utf8')).toBe('statusline {"n":3}\n')
  sh(shellQuoted(['sh', path]), '{"n":4}')
  await expect.poll(() => readFileSync(reports, 'utf8')).toBe('statusline {"n":3}\nstatusline {"n":4}\n')
  // Nothing more to report, nothing left running.
  const pid = Number(readFileSync(join(folder, 'meter.pid'), 'utf8'))
  await expect.poll(() => isAlive(pid)).toBe(false)
})

test('[MUS-134] without a status line of the user’s nothing is shown', () => {
  const folder = tempFolder('claude-silent-')
  const script = statusLineScript({ folder, hookCommand: ['true'] })
  expect(sh(script, '{}')).toMatchObject({ stdout: '', stderr: '', status: 0 })
  expect(readFileSync(join(folder, 'meter.json'), 'utf8')).toBe('{}\n')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
