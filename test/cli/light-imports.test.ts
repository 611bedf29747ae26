import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './run-sm.ts'

/** What a file loads when it is loaded: types are gone by then, and what it imports later is not loaded yet. */
function loadedBy(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export) (?!type )([^;]*?) from '([^']+)'/gms)].flatMap(
    ([, names = '', from = '']) => {
      const inBraces = /^\{(.*)\}$/s
        .exec(names.trim())?.[1]
        ?.split(',')
        .map((name) => name.trim())
      const isTypesOnly = inBraces?.filter(Boolean).every((name) => name.startsWith('type ')) ?? false
      return isTypesOnly ? [] : [from.startsWith('.') ? resolve(dirname(file), from) : from]
    },
  )
}

function reachable(start: string): Set<string> {
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    if (file.endsWith('.ts')) for (const next of loadedBy(file)) visit(next)
  }
  visit(start)
  return seen
}

const families = readdirSync(join(root, 'src/cli/commands')).filter((file) => file.endsWith('.ts'))

test.each([
  ...families.map((file) => `commands/${file.slice(0, -'.ts'.length)}`),
  'run-program',
  'daemon-connection',
  'parse-command-line',
])('[MUS-222] %s starts without the schemas, which take longer to build than the rest', (name) => {
  const found = reachable(join(root, 'src/cli', `${name}.ts`))
  expect(found.size).toBeGreaterThan(1)
  expect([...found].filter((file) => ['zod', 'commander', 'yaml', 'hono'].includes(file))).toEqual([])
})

test('[MUS-222] the search above finds the schemas where they are', () => {
  expect(reachable(join(root, 'src/contract/cli/outputs.ts'))).toContain('zod')
})
