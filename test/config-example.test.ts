import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { configKeys } from '../src/contract/config/config-keys.ts'
import { Config, defaultConfig } from '../src/contract/config.ts'

const root = join(import.meta.dirname, '..')
const page = (name: string) => join(root, 'docs', 'reference', name)
const docs = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/docs.ts'), ...args], { encoding: 'utf8' })

test('[SM-131] the README, the references and a commented example configuration ship; a stale one is found', () => {
  for (const name of ['cli.md', 'routes.md', 'openapi.json', 'events.md', 'config.md', 'config.example.yaml'])
    expect(existsSync(page(name)), name).toBe(true)
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('docs/reference')
  expect(docs('--check')).toMatchObject({ status: 0, stderr: '' })
  const out = mkdtempSync(join(tmpdir(), 'muster-docs-'))
  try {
    docs('--out', out)
    writeFileSync(
      join(out, 'config.example.yaml'),
      readFileSync(page('config.example.yaml'), 'utf8').replace('600', '601'),
    )
    const stale = docs('--check', '--out', out)
    expect(stale.status).toBe(1)
    expect(stale.stderr).toContain('config.example.yaml is stale')
  } finally {
    rmSync(out, { recursive: true })
  }
})

test('[SM-131] the example has every key; as it is it changes nothing, and with all # taken away it is what is usual', () => {
  const text = readFileSync(page('config.example.yaml'), 'utf8')
  expect(parse(text)).toBeNull()
  const settings = text.replaceAll(/^( *)#(?=[a-z])/gm, '$1')
  expect(Config.parse(parse(settings))).toEqual(defaultConfig)
  for (const { key } of configKeys().filter((one) => !/[<[]/.test(one.key)))
    expect(text).toMatch(new RegExp(`^ *# ?${key.split('.').at(-1)}:`, 'm'))
})
