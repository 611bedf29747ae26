import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentClis, codingCliNames } from '../src/contract/agent-clis.ts'

const root = join(import.meta.dirname, '..')

test('every agent CLI has a folder of adapters with its name', () => {
  for (const name of Object.keys(agentClis))
    expect(existsSync(join(root, 'src/adapters', name, `${name}-cli.ts`))).toBe(true)
})

test('the guide has a column for every agent CLI, with the versions that are tested', () => {
  const guide = readFileSync(join(root, 'docs/guide/sessions.md'), 'utf8').split('\n')
  const cells = (row: string | undefined) => (row ?? '').split('|').map((cell) => cell.trim())
  const versions = guide.findIndex((line) => line.startsWith('| tested version |'))
  const tested = cells(guide[versions])
  const titles = cells(guide[versions - 2])
  const columns = titles.map((title, i) => [title, tested[i]] as const).slice(2, -1)
  const known = codingCliNames.map((name) => {
    const { title, npm } = agentClis[name]
    return [title, npm?.tested.map(({ version }) => version).join(', ') ?? ''] as const
  })
  expect(new Map(columns)).toEqual(new Map(known))
})

test('no file copies the list of agent CLIs', () => {
  const name = `['"\`](${Object.keys(agentClis).join('|')})['"\`]`
  const copied = new RegExp(`${name}\\s*[,|]\\s*${name}\\s*[,|]\\s*${name}`)
  const files = globSync(['src/**/*.ts', 'scripts/**/*.{ts,mjs}', 'docs/guide/*.md'], { cwd: root })
  expect(files.length).toBeGreaterThan(500)
  expect(files.filter((file) => copied.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
