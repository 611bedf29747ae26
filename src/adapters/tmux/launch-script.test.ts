import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { launchScript } from './open-pane.ts'

const print = 'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))'

/** Runs a script as tmux would, with variables around it that must not come through. */
function launched(argv: readonly string[], env: Record<string, string>, workingDir = tempFolder()) {
  const path = join(tempFolder(), 'launch.sh')
  writeFileSync(path, launchScript({ argv: [process.execPath, '-e', print, '--', ...argv], env, workingDir }))
  const around = {
    PATH: '/usr/bin:/bin',
    TERM: 'tmux-256color',
    TMUX: '/tmp/x,1,0',
    TMUX_PANE: '%1',
    SECRET: 's',
  }
  const [args, got, folder] = JSON.parse(execFileSync('/bin/sh', [path], { env: around, encoding: 'utf8' }))
  return { args, env: got, folder, path }
}

const text = fc.string({ unit: 'grapheme', maxLength: 20 }).map((value) => value.replaceAll('\0', ''))
const spiky = fc.oneof(
  text,
  fc.constantFrom("'", "''", '\\', '"$HOME"', '`id`', 'a\nb\n', '\u0001\u0081', '-x', '=', ''),
)

test('[SM-122] arguments and environment arrive exactly, and nothing else does', () => {
  const names = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/).filter((name) => !/^(TERM|NODE_|UV_)/.test(name))
  fc.assert(
    fc.property(
      fc.array(spiky, { maxLength: 5 }),
      fc.dictionary(names, spiky, { maxKeys: 5 }),
      (argv, env) => {
        const { args, env: got } = launched(argv, env)
        expect(args).toEqual(argv)
        expect(got).toEqual({ ...env, TERM: 'tmux-256color' })
      },
    ),
    runs(40),
  )
})

test('[MUS-234] it works in the folder that was named and is gone when the program runs', () => {
  const workingDir = tempFolder("muster it's #{pid} $(x) ")
  const { folder, path } = launched([], {}, workingDir)
  expect(folder).toBe(workingDir)
  expect(existsSync(path)).toBe(false)
})

test('[MUS-234] a TERM that is given wins', () => {
  expect(launched([], { TERM: 'dumb' }).env).toEqual({ TERM: 'dumb' })
})

test('[MUS-234] one argument may have as many bytes as the kernel takes, and not one more', () => {
  const longest = 128 * 1024 - 1
  expect(launched(['é'.repeat((longest - 1) / 2)].concat('x'), {}).args[0]).toHaveLength((longest - 1) / 2)
  const { args } = launched(['x'.repeat(longest)], {})
  expect(args[0]).toHaveLength(longest)
  const script = (argv: string[], env = {}) => launchScript({ argv: ['x', ...argv], env, workingDir: '/' })
  expect(() => script(['x'.repeat(longest + 1)])).toThrow(/131072 bytes.*put the long text into a file/)
  expect(() => script([], { A: 'x'.repeat(longest - 1) })).toThrow(/131072 bytes/)
  expect(() => script(Array.from({ length: 11 }, () => 'x'.repeat(100_000)))).toThrow(/all arguments have/)
})

test.each([
  ['no program', [], {}],
  ['an empty program', [''], {}],
  ['a program that env would take for a variable', ['/opt/a=b/x'], {}],
  ['NUL in an argument', ['x', 'a\0b'], {}],
  ['NUL in a value', ['x'], { A: 'a\0b' }],
  ['an empty name', ['x'], { '': 'a' }],
  ['a name with =', ['x'], { 'A=B': 'a' }],
  ['a name that env would take for an option', ['x'], { '-u': 'a' }],
])('[MUS-234] %s is refused', (_what, argv, env) => {
  expect(() => launchScript({ argv, env: env as Record<string, string>, workingDir: '/' })).toThrow(
    expect.objectContaining({ code: 'invalid' }),
  )
})
