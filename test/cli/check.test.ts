import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { root, runProgram, temporaryFolder } from './run-sm.ts'

let copy: string
let small: string

/** Copies of this checkout, so that a planted fault harms nobody. */
beforeAll(() => {
  copy = copyOf(() => true)
  // Types and lint of everything take a core for a minute; these folders need no others.
  small = copyOf(
    (path) =>
      !/^(bench|test|workflows)\b|^scripts\/(?!check|setup)|^src\/(?!contract|core|ports|engine)|\.test\.ts$/.test(
        path,
      ),
  )
})

function copyOf(isWanted: (path: string) => boolean): string {
  const folder = temporaryFolder()
  const filter = (from: string) => isWanted(relative(root, from))
  for (const name of readdirSync(root)) {
    if (!['node_modules', 'dist', '.git'].includes(name))
      cpSync(join(root, name), join(folder, name), { recursive: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

type Planted = { name: string; file: string; change: (text: string) => string; isSmall?: boolean }

/** Runs one check with a file planted, then puts things back. */
async function checked({ name, file, change, isSmall = false }: Planted) {
  const folder = isSmall ? small : copy
  const path = join(folder, file)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, change(before ?? ''))
  try {
    return await runProgram(process.execPath, [join(folder, 'scripts/check.mjs'), name], { cwd: folder })
  } finally {
    if (before === undefined) writeFileSync(path, 'export {}\n')
    else writeFileSync(path, before)
  }
}

describe('npm run check', () => {
  const planted = [
    {
      name: 'format',
      isSmall: true,
      fault: 'a badly formatted file',
      file: 'src/core/planted.ts',
      change: () => 'export  const a = 1;\n',
      said: 'planted.ts',
    },
    {
      name: 'types',
      isSmall: true,
      fault: 'a type error',
      file: 'src/core/planted.ts',
      change: () => "export const a: number = 'a'\n",
      said: 'planted.ts',
    },
    {
      name: 'lint',
      isSmall: true,
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
  test.each(planted)('[MUS-217] the check $name fails on $fault, by name', async ({ said, ...fault }) => {
    const { name } = fault
    const { code, stdout } = await checked(fault)
    expect(code).toBe(1)
    expect(stdout).toMatch(new RegExp(`^FAILED ${name} `))
    expect(stdout).toContain(said)
    expect(stdout).toMatch(new RegExp(`failed: ${name}\n$`))
  })

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
