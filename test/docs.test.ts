import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
