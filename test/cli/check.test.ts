import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
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
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, change(before ?? ''))
  try {
    return await runProgram(process.execPath, [join(copy, 'scripts/check.mjs'), name], { cwd: copy })
  } finally {
    if (before === undefined) writeFileSync(path, 'export {}\n')
    else writeFileSync(path, before)
  }
}

// A check of the whole checkout takes a core for itself, which a busy machine gives it late.
describe('npm run check', () => {
  const planted = [
    {
      name: 'format',
      fault: 'a badly formatted file',
      file: 'src/core/planted.ts',
      change: () => 'export  const a = 1;\n',
      said: 'planted.ts',
    },
    {
      name: 'types',
      fault: 'a type error',
      file: 'src/core/planted.ts',
      change: () => "export const a: number = 'a'\n",
      said: 'planted.ts',
    },
    {
      name: 'lint',
      fault: 'a floating promise',
      file: 'src/engine/planted.ts',
      change: () => 'export function a() {\n  Promise.resolve(1)\n}\n',
      said: 'no-floating-promises',
    },
    {
      name: 'imports',
      fault: 'a forbidden import',
      file: 'src/core/planted.ts',
      change: () => "import '../http/app.ts'\n",
      said: 'core/planted.ts:1: core may not import http',
    },
    {
      name: 'unused',
      fault: 'an unused export',
      file: 'src/contract/errors.ts',
      change: (text: string) => `${text}\nexport const plantedForNobody = 1\n`,
      said: 'plantedForNobody',
    },
    {
      name: 'reference',
      fault: 'a stale page',
      file: 'docs/reference/errors.md',
      change: (text: string) => `${text}\n`,
      said: 'errors.md is stale',
    },
    {
      name: 'rules',
      fault: 'an unknown rule',
      file: 'src/core/planted.test.ts',
      change: () => "import { test } from 'vitest'\n\ntest('[MUS-99999] nothing', () => {})\n",
      said: 'MUS-99999',
    },
  ]
  test.each(planted)(
    '[MUS-217] the check $name fails on $fault, by name',
    async ({ name, file, change, said }) => {
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
