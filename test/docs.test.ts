import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commandEntries } from '../src/contract/cli.ts'
import { configKeys } from '../src/contract/config/config-keys.ts'
import { errorCodes } from '../src/contract/errors.ts'
import { eventTypes } from '../src/contract/event.ts'
import { routeEntries } from '../src/contract/routes.ts'
import { root, runProgram, temporaryFolder } from './cli/run-sm.ts'

const reference = (name: string) => readFileSync(join(root, 'docs', 'reference', name), 'utf8')

/** The names that have no line of their own on a page. */
const undocumented = (page: string, names: readonly string[], line: (name: string) => string) => {
  const lines = new Set(reference(page).split('\n'))
  return names.filter((name) => !lines.has(line(name)))
}

describe('the reference', () => {
  const commands = commandEntries.map(([name]) => name)
  const heading = (name: string) => `### sm ${name}`

  test('[MUS-108] has every command', () => {
    expect(undocumented('cli.md', commands, heading)).toEqual([])
    expect(undocumented('cli.md', [...commands, 'planted'], heading)).toEqual(['planted'])
  })

  test('[MUS-223] has every event type', () => {
    expect(undocumented('events.md', eventTypes, (type) => `## ${type}`)).toEqual([])
  })

  test('[MUS-143] has every configuration key, with a description and a default', () => {
    const keys = configKeys()
    expect(
      undocumented(
        'config.md',
        keys.map(({ key }) => key),
        (key) => `${sectionMark(key)} \`${key}\``,
      ),
    ).toEqual([])
    expect(keys.filter(({ description }) => description === '').map(({ key }) => key)).toEqual([])

    function sectionMark(key: string): string {
      return keys.find((one) => one.key === key)?.isSection ? '##' : '###'
    }
  })

  test('[MUS-223] has every route and every error code', () => {
    expect(
      undocumented(
        'routes.md',
        routeEntries.map(([name]) => name),
        (name) => `## ${name}`,
      ),
    ).toEqual([])
    for (const [code, { http, exit }] of Object.entries(errorCodes)) {
      expect(reference('errors.md')).toContain(`| \`${code}\` | ${http} | ${exit} |`)
    }
    const { paths } = JSON.parse(reference('openapi.json')) as { paths: Record<string, object> }
    for (const [, { path, method }] of routeEntries) expect(paths[path]).toHaveProperty(method)
  })

  const check = (folder: string) =>
    runProgram(process.execPath, [join(root, 'scripts/docs.ts'), '--check', '--out', folder])

  test('[MUS-223] is fresh', async () => {
    expect(await check(join(root, 'docs/reference'))).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('[MUS-223] a page that was edited or is missing is stale, by name', async () => {
    const folder = temporaryFolder()
    cpSync(join(root, 'docs/reference'), folder, { recursive: true })
    writeFileSync(join(folder, 'cli.md'), `${reference('cli.md')}\n`)
    rmSync(join(folder, 'openapi.json'))
    const { code, stderr } = await check(folder)
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toEqual([
      `${join(folder, 'cli.md')} is stale; run: npm run docs`,
      `${join(folder, 'openapi.json')} is stale; run: npm run docs`,
    ])
  })

  test('[MUS-108][MUS-223] a changed command makes it stale', async () => {
    const folder = temporaryFolder()
    for (const part of ['src', 'scripts', 'docs', 'package.json']) {
      cpSync(join(root, part), join(folder, part), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const table = join(folder, 'src/contract/cli/daemon-commands.ts')
    writeFileSync(
      table,
      readFileSync(table, 'utf8').replace('stop the daemon; sessions keep running', 'planted'),
    )
    const { code, stderr } = await runProgram(process.execPath, [join(folder, 'scripts/docs.ts'), '--check'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `${join(folder, 'docs/reference/cli.md')} is stale; run: npm run docs\n`,
    })
  })
})

describe('the threat model', () => {
  const page = () => readFileSync(join(root, 'docs', 'security.md'), 'utf8')

  test('[MUS-364] has a row for everybody it is about, and each row a proof that exists or a limit', () => {
    const who = rowsOf(page()).map(([name = '']) => name)
    for (const kind of ['web page', 'local user', 'child agent', 'malicious repository', 'malicious output'])
      expect(who.join('\n')).toContain(kind)
    for (const kind of ['MCP server', 'stolen session token', 'root']) expect(who.join('\n')).toContain(kind)
    expect(withoutProof(page())).toEqual([])
  })

  test('[MUS-364] a proof that is renamed or a rule that its tests no longer cite is found', () => {
    const moved = page().replace('`test/http/sockets.test.ts`', '`test/http/gone.test.ts`')
    expect(withoutProof(moved)).toContain('test/http/gone.test.ts is not there')
    expect(withoutProof(page().replace('(MUS-206:', '(MUS-1:'))).toEqual([
      'MUS-1 is cited in none of test/system/authority.test.ts',
    ])
  })
})

/** The cells of the table of who tries what. */
const rowsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => /^\| (?!who |-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

/** What is wrong with the proofs of the rows: `(MUS-1, MUS-3 to MUS-5: `file`, `folder`)`. */
function withoutProof(page: string): string[] {
  return rowsOf(page).flatMap(([who, , proofs = '', limit = '']) => {
    const found = [...proofs.matchAll(/\((MUS-[^:]+): ([^()]+)\)/g)]
    if (found.length === 0 && limit === '') return [`${who} has neither proof nor limit`]
    return found.flatMap(([, rules = '', places = '']) => {
      const named = [...places.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path = '']) => path)
      const gone = named.filter((path) => !existsSync(join(root, path)))
      if (gone.length > 0) return gone.map((path) => `${path} is not there`)
      const tests = named.flatMap(testsIn)
      return tests.length === 0
        ? []
        : rulesIn(rules)
            .filter((rule) => !tests.some((text) => text.includes(`[${rule}]`)))
            .map((rule) => `${rule} is cited in none of ${named.join(', ')}`)
    })
  })
}

function testsIn(path: string): string[] {
  const full = join(root, path)
  if (!statSync(full).isDirectory()) return [readFileSync(full, 'utf8')]
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(full, name), 'utf8'))
}

/** `MUS-1, MUS-3 to MUS-5` are four. */
const rulesIn = (text: string): string[] =>
  text.split(', ').flatMap((part) => {
    const [from = 0, to = from] = [...part.matchAll(/MUS-(\d+)/g)].map(([, number]) => Number(number))
    return Array.from({ length: to - from + 1 }, (_, i) => `MUS-${from + i}`)
  })
