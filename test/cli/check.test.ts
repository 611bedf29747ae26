import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { root, runProgram, temporaryFolder } from './run-sm.ts'

let small: string
let documented: string

/** Parts of this checkout, so that a planted fault harms nobody and no check reads more than it needs to find it. */
beforeAll(() => {
  const settings = /^[^/]*$|^spec\b|^scripts\/(check|setup|spec|architecture)/
  small = copyOf((path) => settings.test(path) && path !== 'vitest.config.ts')
  documented = copyOf((path) => !/^(bench|test|workflows)\b|\.test\.ts$/.test(path))
})

function copyOf(isWanted: (path: string) => boolean): string {
  const folder = temporaryFolder()
  const filter = (from: string) => isWanted(relative(root, from))
  for (const name of readdirSync(root)) {
    if (!['node_modules', 'dist', '.git'].includes(name) && isWanted(name))
      cpSync(join(root, name), join(folder, name), { recursive: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

type Planted = {
  name: string
  file: string
  change: (text: string) => string
  /** What has to be there besides. */
  beside?: Record<string, string>
  isDocumented?: boolean
}

/** Runs one check with a file planted, then puts things back. */
async function checked({ name, file, change, beside = {}, isDocumented = false }: Planted) {
  const folder = isDocumented ? documented : small
  for (const [other, text] of Object.entries(beside)) {
    mkdirSync(dirname(join(folder, other)), { recursive: true })
    writeFileSync(join(folder, other), text)
  }
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
      beside: { 'src/http/app.ts': 'export {}\n' },
      said: 'core/planted.ts:1: core may not import http',
    },
    {
      name: 'unused',
      fault: 'an unused export',
      file: 'src/contract/planted-words.ts',
      change: () => 'export const used = 1\nexport const plantedForNobody = 2\n',
      beside: {
        'src/cli/main.ts': "import { used } from '../contract/planted-words.ts'\n\nconsole.log(used)\n",
      },
      said: 'plantedForNobody',
    },
    {
      name: 'reference',
      isDocumented: true,
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
      [join(small, 'scripts/check.mjs'), 'speling'],
      { cwd: small },
    )
    expect(code).toBe(1)
    expect(stderr).toContain(
      'no check speling; there are types, lint, unused, format, reference, rules, imports',
    )
  })
})
