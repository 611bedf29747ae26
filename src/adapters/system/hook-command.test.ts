import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { decidingHook, quoteShell, tellingHook } from './hook-command.ts'

const folder = mkdtempSync(join(tmpdir(), "muster hook's "))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A program in a folder whose name has to be quoted. */
let made = 0
function program(body: string): string {
  const path = join(folder, `hook ${made++}.sh`)
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o700)
  return path
}
const run = (line: string) => spawnSync('/bin/sh', ['-c', line], { input: '{"a":1}', encoding: 'utf8' })

test('[MUS-207] words reach the program as they are, whatever is in them', () => {
  const words = ['', 'a b', "it's", '$HOME', '`x`', '"q"', '\\', '*', 'line\nbreak', ';rm', '--flag=ü']
  const line = quoteShell([
    process.execPath,
    '-e',
    'console.log(JSON.stringify(process.argv.slice(1)))',
    '--',
    ...words,
  ])
  expect(JSON.parse(execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }))).toEqual(words)
})

test('[MUS-209] a hook that decides says no whenever it did not say yes', () => {
  const silent = [
    run(decidingHook(['/nonexistent/sm', 'hook'])),
    run(decidingHook([program('exit 1')])),
    run(decidingHook([program('exit 6')])),
    run(decidingHook([program('kill -9 $$')])),
  ]
  for (const { status, stderr } of silent) {
    expect(status).toBe(2)
    expect(stderr).toContain('Muster did not answer')
  }
})

test('[MUS-209] its own no keeps its reason, and its yes its words', () => {
  const no = run(decidingHook([program('echo "not yours" >&2; exit 2')]))
  expect([no.status, no.stderr]).toEqual([2, 'not yours\n'])
  const yes = run(decidingHook([program('cat; exit 0')]))
  expect([yes.status, yes.stdout, yes.stderr]).toEqual([0, '{"a":1}', ''])
})

test('[MUS-209] a hook that tells never stops anything', () => {
  for (const argv of [['/nonexistent/sm'], [program('exit 2')], [program('exit 1')], [program('kill -9 $$')]])
    expect(run(tellingHook(argv)).status).toBe(0)
})
