import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  openScriptBed,
  personAt,
  type Saying,
  scriptInput,
  scripts,
} from '../../../test/support/script-bed.ts'
import { scriptHash } from '../../contract/script.ts'
import type { ScriptInput } from './script-procedure.ts'

const folder = join(import.meta.dirname, '../../../workflows')
const shippedAgents = readdirSync(join(folder, '../agents')).map((file) => file.replace('.md', ''))

async function shipped(name: string, args: unknown): Promise<ScriptInput> {
  const file = join(folder, `${name}.ts`)
  const { meta, source } = await scripts.describe(file)
  return scriptInput('', { meta, source, unsafe: scriptHash(source), args })
}

/** Answers each agent by its name; who has none is a verifier. */
const answering =
  (answers: Record<string, (prompt: string) => unknown>): Saying =>
  ({ name, prompt }) => {
    const [word = ''] = name.split(' ')
    const said = (answers[name.includes('vote') ? 'vote' : word] ?? (() => name))(prompt)
    return typeof said === 'string' ? said : JSON.stringify(said)
  }

test('[MUS-279] each shipped script says what it is and does', async () => {
  for (const file of readdirSync(folder)) {
    const { meta } = await scripts.describe(join(folder, file))
    expect(`${meta.name}.ts`).toBe(file)
    expect(meta.phases.length).toBeGreaterThan(1)
  }
})

test('[MUS-279] audit reports what holds against a refutation, and goes on where an agent fails', async () => {
  const { run, asked, bed } = await openScriptBed((work, signal) =>
    work.name.startsWith('audit') && work.prompt.includes('c.ts')
      ? { status: 'failed', text: '', reason: 'no model', tokens: 1, durationMs: 1 }
      : answering({
          map: () => ({ parts: ['a.ts', 'b.ts', 'c.ts'] }),
          audit: (prompt) => ({
            findings: [
              {
                file: prompt.includes('a.ts') ? 'a.ts' : 'b.ts',
                line: 3,
                claim: 'loses data',
                severity: 'major',
              },
            ],
          }),
          vote: (prompt) => ({
            verdict: prompt.includes('a.ts:3') ? 'supported' : 'refuted',
            evidence: 'line 3',
          }),
        })(work, signal),
  )
  expect(await run(await shipped('audit', { what: 'lost data' }))).toEqual({
    findings: [{ id: 'F1', file: 'a.ts', line: 3, claim: 'loses data', severity: 'major' }],
    unsure: [],
    refuted: 1,
  })
  expect(
    asked.every(({ agent, scopes }) => shippedAgents.includes(agent) && scopes[0]?.[0] === ':nothing:'),
  ).toBe(true)
  expect(JSON.stringify(await bed.events())).toContain('c.ts could not be looked at')
})

test('[MUS-279] migrate asks first, lets each agent change its own file alone, and mends once', async () => {
  let looks = 0
  const { run, asked, bed } = await openScriptBed(
    answering({
      find: () => ({ files: ['src/a.ts', 'src/b.ts'] }),
      review: (prompt) => {
        const isDone = prompt.includes('a.ts') && ++looks > 1
        return { isDone, problems: isDone ? [] : ['not whole'] }
      },
    }),
  )
  using _person = personAt(bed, () => ({ verdict: 'allow', scope: 'once' }))
  expect(await run(await shipped('migrate', { change: 'rename x to y' }))).toEqual({
    changed: ['src/a.ts'],
    left: [{ file: 'src/b.ts', problems: ['not whole'] }],
  })
  const changes = asked.filter(({ agent }) => agent === 'developer')
  expect(changes.map(({ scopes }) => scopes.join())).toHaveLength(4)
  expect(new Set(changes.map(({ scopes }) => scopes.join()))).toEqual(new Set(['src/a.ts', 'src/b.ts']))
  expect(asked.every(({ agent }) => shippedAgents.includes(agent))).toBe(true)
})

test('[MUS-279] migrate changes nothing when a person says no, and says what it needs', async () => {
  const { run, asked, bed } = await openScriptBed(() => 'x')
  using _person = personAt(bed, () => ({ verdict: 'deny' }))
  const args = { change: 'x', files: ['a.ts'] }
  expect(await run(await shipped('migrate', args))).toEqual({ changed: [], left: ['a.ts'] })
  expect(asked).toEqual([])
  const other = await openScriptBed(() => 'x')
  await expect(other.run(await shipped('migrate', null))).rejects.toThrow('migrate.ts:')
})

test('[MUS-279] research writes from the claims that held', async () => {
  const { run, asked } = await openScriptBed(
    answering({
      plan: () => ({ angles: ['cost', 'speed'] }),
      search: (prompt) => ({
        claims: [{ claim: prompt.includes('cost') ? 'cheap' : 'fast', source: 'https://x' }],
      }),
      vote: (prompt) => ({ verdict: prompt.includes('cheap') ? 'supported' : 'inconclusive', evidence: '' }),
      write: (prompt) =>
        prompt.includes('cheap (https://x)') && !prompt.includes('fast') ? 'It is cheap.' : 'wrong',
    }),
  )
  expect(await run(await shipped('research', { question: 'Is it good?', votes: 2 }))).toEqual({
    answer: 'It is cheap.',
    claims: [{ claim: 'cheap', source: 'https://x' }],
    dropped: 1,
  })
  expect(asked).toHaveLength(1 + 2 + 4 + 1)
  expect(asked.every(({ agent }) => shippedAgents.includes(agent))).toBe(true)
})
