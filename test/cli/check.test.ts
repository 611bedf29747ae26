import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { root, runProgram, temporaryFolder } from './run-sm.ts'

let copy: string

/** A copy of this checkout, so that a planted fault harms nobody. */
beforeAll(() => {
  copy = temporaryFolder()
  for (const name of readdirSync(root)) {
    if (!['node_modules', 'dist', '.git'].includes(name))
      cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
})

/** Runs one check with a file planted, then puts things back. */
async function checked(name: string, file: string, change: (text: string) => string) {
  const path = join(copy, file)
  const before = readdirSync(copy, { recursive: true }).includes(file)
    ? readFileSync(path, 'utf8')
    : undefined
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, change(before ?? ''))
  try {
    return await runProgram(process.execPath, [join(copy, 'scripts/check.mjs'), name], { cwd: copy })
  } finally {
    if (before === undefined) writeFileSync(path, 'export {}\n')
    else writeFileSync(path, before)
  }
}

describe('npm run check', () => {
  const planted: [string, string, string, (text: string) => string, string][] = [
    ['format', 'a badly formatted file', 'src/core/planted.ts', () => 'export  const a = 1;\n', 'planted.ts'],
    ['types', 'a type error', 'src/core/planted.ts', () => "export const a: number = 'a'\n", 'planted.ts'],
    [
      'lint',
      'a floating promise',
      'src/engine/planted.ts',
      () => 'export function a() {\n  Promise.resolve(1)\n}\n',
      'no-floating-promises',
    ],
    [
      'imports',
      'a forbidden import',
      'src/core/planted.ts',
      () => "import '../http/app.ts'\n",
      'core/planted.ts:1: core may not import http',
    ],
    [
      'unused',
      'an unused export',
      'src/contract/errors.ts',
      (text) => `${text}\nexport const plantedForNobody = 1\n`,
      'plantedForNobody',
    ],
    ['reference', 'a stale page', 'docs/reference/errors.md', (text) => `${text}\n`, 'errors.md is stale'],
    [
      'rules',
      'an unknown rule',
      'src/core/planted.test.ts',
      () => "import { test } from 'vitest'\n\ntest('[MUS-99999] nothing', () => {})\n",
      'MUS-99999',
    ],
  ]
  test.each(planted)(
    '[MUS-217] the check %s fails on %s, by name',
    async (name, _what, file, change, said) => {
      const { code, stdout } = await checked(name, file, change)
      expect(code).toBe(1)
      expect(stdout).toMatch(new RegExp(`^FAILED ${name} `))
      expect(stdout).toContain(said)
      expect(stdout).toMatch(new RegExp(`failed: ${name}\n$`))
    },
  )

  test('[MUS-217] an unknown check is refused with the known ones', async () => {
    const { code, stderr } = await runProgram(
      process.execPath,
      [join(copy, 'scripts/check.mjs'), 'speling'],
      { cwd: copy },
    )
    expect(code).toBe(1)
    expect(stderr).toContain(
      'no check speling; there are types, lint, unused, format, reference, rules, imports',
    )
  })
})
