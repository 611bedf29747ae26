import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { blankText } from '../scripts/architecture/blank-text.ts'
import { draw } from '../scripts/architecture/draw.ts'
import { readImports } from '../scripts/architecture/read-imports.ts'
import { table } from '../scripts/architecture/table.ts'
import { violations } from '../scripts/architecture/violations.ts'

const root = join(import.meta.dirname, '..')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Writes a source tree that keeps every rule, then the given files over it. */
function plant(files: Record<string, string>): string {
  const src = mkdtempSync(join(tmpdir(), 'muster-architecture-'))
  folders.push(src)
  for (const [file, text] of Object.entries({ 'contract/a.ts': 'export const a = 1\n', ...files })) {
    mkdirSync(dirname(join(src, file)), { recursive: true })
    writeFileSync(join(src, file), text)
  }
  return src
}

/** The cells of the first table in a document whose heading begins so. */
function tableRows(file: string, heading: string): string[][] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  const rows = lines.slice(lines.findIndex((line) => line.startsWith(heading)) + 2)
  return rows.slice(0, rows.indexOf('')).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const found = (file: string, text: string, others: Record<string, string> = {}) =>
  violations(plant({ ...others, [file]: text }))

describe('[MUS-218] the import table', () => {
  test('[MUS-218] this checkout keeps it', () => {
    expect(violations(join(root, 'src'))).toEqual([])
  })

  test('[MUS-218] each package is pinned, has its reasons, and is allowed and named where it is used', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const names = Object.keys(dependencies).sort()
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
    const reasons = tableRows('docs/decisions/0028-dependencies.md', '| package |')
    expect(reasons.map(([name = '']) => name.replace(/ \d+$/, '')).sort()).toEqual(names)
    const allowed = Object.values(table).flatMap(({ packages }) => packages)
    expect([...new Set(allowed)].sort()).toEqual(names)
    const drawn = tableRows('ARCHITECTURE.md', '| folder | may import | packages |')
    const packages = drawn.flatMap(([folders = '', , listed = '']) =>
      folders.split(', ').map((folder) => [folder.replace('/X', ''), listed.replace('–', '')] as const),
    )
    expect(
      Object.fromEntries(packages.map(([folder, listed]) => [folder, listed.split(', ').sort()])),
    ).toEqual(
      Object.fromEntries(
        Object.entries(table).map(([folder, rule]) => [
          folder,
          rule.packages.length === 0 ? [''] : [...rule.packages].sort(),
        ]),
      ),
    )
  })

  const forbidden: [string, string, string][] = [
    [
      'core/a.ts',
      "import { a } from '../adapters/jsonl/a.ts'",
      'core/a.ts:1: core may not import adapters/jsonl',
    ],
    ['core/a.ts', "import '../engine/a.ts'", 'core/a.ts:1: core may not import engine'],
    ['core/a.ts', "export { a } from '../http/a.ts'", 'core/a.ts:1: core may not import http'],
    ['core/a.ts', "export * from '../http/a.ts'", 'core/a.ts:1: core may not import http'],
    ['core/a.ts', "import type { A } from '../ports/a.ts'", 'core/a.ts:1: core may not import ports'],
    ['core/a.ts', "type A = import('../ports/a.ts').A", 'core/a.ts:1: core may not import ports'],
    ['core/a.ts', "import {\n  a,\n  b,\n} from '../http/a.ts'", 'core/a.ts:4: core may not import http'],
    ['contract/b.ts', "import { a } from '../core/a.ts'", 'contract/b.ts:1: contract may not import core'],
    ['ports/a.ts', "import { a } from '../core/a.ts'", 'ports/a.ts:1: ports may not import core'],
    ['engine/a.ts', "import { a } from '../runtime/a.ts'", 'engine/a.ts:1: engine may not import runtime'],
    [
      'runtime/a.ts',
      "import { a } from '../workflow/a.ts'",
      'runtime/a.ts:1: runtime may not import workflow',
    ],
    [
      'adapters/tmux/a.ts',
      "import '../git/a.ts'",
      'adapters/tmux/a.ts:1: adapters/tmux may not import adapters/git',
    ],
    [
      'adapters/tmux/a.ts',
      "import '../../core/a.ts'",
      'adapters/tmux/a.ts:1: adapters/tmux may not import core',
    ],
    ['http/a.ts', "import { a } from '../engine/a.ts'", 'http/a.ts:1: http may not import engine'],
    ['client/a.ts', "import { a } from '../core/a.ts'", 'client/a.ts:1: client may not import core'],
    ['cli/a.ts', "import { a } from '../core/a.ts'", 'cli/a.ts:1: cli may not import core'],
    ['cli/a.ts', "await import('../daemon/main.ts')", 'cli/a.ts:1: cli may not import daemon'],
    ['cli/a.ts', "import '../daemon/entries/a.ts'", 'cli/a.ts:1: cli may load daemon only by import()'],
    ['engine/a.ts', "import '../daemon/entries/a.ts'", 'engine/a.ts:1: engine may not import daemon'],
    ['ui/a.tsx', "import '../engine/a.ts'", 'ui/a.tsx:1: ui may not import engine'],
    ['core/a.ts', "import { readFile } from 'node:fs'", 'core/a.ts:1: core may not use Node (node:fs)'],
    [
      'client/a.ts',
      "import { request } from 'node:http'",
      'client/a.ts:1: client may not use Node (node:http)',
    ],
    ['http/a.ts', "import { readFile } from 'fs'", 'http/a.ts:1: write node:fs'],
    ['core/a.ts', "import { Hono } from 'hono'", 'core/a.ts:1: core may not use the package hono'],
    [
      'cli/a.ts',
      "import { s } from '@hono/node-server/x'",
      'cli/a.ts:1: cli may not use the package @hono/node-server',
    ],
    [
      'core/a.ts',
      "import x from '../../package.json' with { type: 'json' }",
      'core/a.ts:1: core may not read the manifest',
    ],
    [
      'daemon/a.ts',
      "import '../../test/support/a.ts'",
      'daemon/a.ts:1: ../../test/support/a.ts lies outside src',
    ],
    ['core/a.ts', "import './b.test.ts'", 'core/a.ts:1: ./b.test.ts is a test and may not be imported'],
    [
      'daemon/a.ts',
      'await import(name)',
      'daemon/a.ts:1: an import whose target is computed cannot be checked; name it',
    ],
    ['core/a.ts', "const a = require('../http/a.ts')", 'core/a.ts:1: core may not import http'],
    ['plugins/a.ts', '', 'plugins/a.ts: the folder plugins is not in the table'],
    ['a.ts', '', 'a.ts: lies outside every folder of the table'],
    ['adapters/a.ts', '', 'adapters/a.ts: lies outside every folder of adapters'],
  ]
  test.each(forbidden)('[MUS-218] %s with %j is refused', (file, text, message) => {
    expect(found(file, text)).toEqual([message])
  })

  const allowed: [string, string][] = [
    ['core/trace/a.ts', "import { a } from '../../contract/a.ts'\nimport './b.ts'\nimport * as z from 'zod'"],
    ['workflow/a.ts', "import { a } from '../engine/a.ts'"],
    ['adapters/tmux/a.ts', "import '../system/a.ts'\nimport './b.ts'\nimport 'node:fs'"],
    ['cli/a.ts', "import 'commander'\nawait import('../daemon/entries/offline.ts')"],
    ['contract/b.ts', "import manifest from '../../package.json' with { type: 'json' }"],
    ['daemon/a.ts', "import '../adapters/jsonl/a.ts'\nimport '../http/a.ts'\nimport 'pino'"],
    ['core/a.test.ts', "import '../engine/a.ts'\nimport 'node:fs'\nimport { test } from 'vitest'"],
    ['core/a.ts', "// import '../http/a.ts'\n/* from '../http/a.ts' */\nconst s = \"import '../http/a.ts'\""],
    ['core/a.ts', 'const sql = `select * from "t" where a = ${b} and from \'x\'`'],
    ['core/a.ts', "const pattern = /from '..\\/http'/\nconst half = a / 2 // from 'x'"],
  ]
  test.each(allowed)('[MUS-218] %s with %j passes', (file, text) => {
    expect(found(file, text)).toEqual([])
  })

  test('[MUS-218] a folder without files fails', () => {
    const src = mkdtempSync(join(tmpdir(), 'muster-architecture-'))
    folders.push(src)
    expect(violations(src)).toEqual([`${src}: no files were checked`])
    writeFileSync(join(src, 'a.test.ts'), '')
    expect(violations(src)).toEqual([`${src}: no files were checked`])
  })

  test('[MUS-218] the script exits 1 with the place, and draws the table as a map', () => {
    const script = join(root, 'scripts', 'architecture.ts')
    const src = plant({ 'core/a.ts': "import '../http/a.ts'" })
    const checked = spawnSync(process.execPath, [script, src], { encoding: 'utf8' })
    expect(checked.status).toBe(1)
    expect(checked.stderr).toBe('core/a.ts:1: core may not import http\n')
    const map = execFileSync(process.execPath, [script, '--draw'], { encoding: 'utf8' })
    expect(map).toContain('graph TD\n')
    expect(map).toContain('  core --> contract\n')
    expect(map).toContain('  cli -.-> daemon\n')
    expect(map).not.toContain('core --> adapters')
  })
})

test('[MUS-207] no source starts a program through a shell', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const starting = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(root, 'src', file), 'utf8')
      return /from 'node:child_process'/.test(text) ? [{ file, text }] : []
    })
  expect(starting.length).toBeGreaterThan(10)
  const throughShell = /\bshell: |import \{[^}]*\bexec(?:Sync)?\b[^}]*\} from 'node:child_process'/
  expect(starting.filter(({ text }) => throughShell.test(text)).map(({ file }) => file)).toEqual([])
})

test('[MUS-218] the map in ARCHITECTURE.md is the table', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  expect(page).toContain(`<!-- map -->\n\`\`\`mermaid\n${draw()}\n\`\`\`\n<!-- /map -->`)
})

describe('[MUS-219] pure folders', () => {
  const impure = [
    'Date.now()',
    'new Date()',
    'new Date( )',
    'new Date',
    'Date()',
    'Math.random()',
    'crypto.randomUUID()',
    'randomUUID()',
    'setTimeout(f, 1)',
    'setInterval(f, 1)',
    'process.env',
    "process['env']",
    'console.log(1)',
    'performance.now()',
    'globalThis.fetch',
    '`${Date.now()}`',
    '`a${`b${Math.random()}`}`',
  ]
  test.each(impure)('[MUS-219] %s is refused in contract, core, ports, client and engine', (text) => {
    for (const folder of ['contract', 'core', 'ports', 'client', 'engine', 'workflow', 'runtime']) {
      expect(found(`${folder}/b.ts`, `export const a = ${text}`)).toHaveLength(1)
    }
    for (const folder of ['daemon', 'cli', 'http', 'adapters/system']) {
      expect(found(`${folder}/b.ts`, `export const a = ${text}`)).toEqual([])
    }
  })

  const pure = [
    'new Date(text)',
    'new Date(0).getTime()',
    'Date.parse(text)',
    'deps.process.start()',
    "'Date.now()'",
    '`process.env`',
    '/process\\./',
    '1 // console.log',
    'Math.round(1)',
    'reset.setTimeout',
  ]
  test.each(pure)('[MUS-219] %s passes', (text) => {
    expect(found('core/b.ts', `export const a = ${text}`)).toEqual([])
  })

  test('[MUS-219] core waits for nothing, the engine may', () => {
    expect(found('core/b.ts', 'export const f = async () => {\n  await g()\n}')).toEqual([
      'core/b.ts:1: core may not use async',
      'core/b.ts:2: core may not use await',
    ])
    expect(found('engine/b.ts', 'export const f = async () => {\n  await g()\n}')).toEqual([])
  })
})

test('[MUS-218] blanking keeps positions and the code inside templates', () => {
  const source = "a // b\n'c' + `d ${e('f')} g` + /h['\"]/.test(i) / 2"
  const code = blankText(source)
  expect(code).toHaveLength(source.length)
  expect(code).toBe("a     \n' ' + `  ${e(' ')}  ` + /     /.test(i) / 2")
})

test('[MUS-218] imports are read with their lines, lazy ones apart', () => {
  const source =
    "import a from 'a'\nimport 'b'\nexport * from \"c\"\nconst d = () => import('d')\nimport type { E } from 'e'"
  expect(readImports(source, blankText(source))).toEqual([
    { target: 'a', isLazy: false, line: 1 },
    { target: 'b', isLazy: false, line: 2 },
    { target: 'c', isLazy: false, line: 3 },
    { target: 'd', isLazy: true, line: 4 },
    { target: 'e', isLazy: false, line: 5 },
  ])
})
