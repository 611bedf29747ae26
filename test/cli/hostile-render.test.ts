import fc from 'fast-check'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import type { View } from '../../src/cli/command-module.ts'
import { loadCommand } from '../../src/cli/load-command.ts'
import { terminalText } from '../../src/cli/render/paint.ts'
import { jsonText } from '../../src/cli/render/safe-text.ts'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import { type CommandName, commandEntries } from '../../src/contract/cli.ts'
import { hostile, poisoned, printedFaults } from '../support/hostile-text.ts'
import { arbitraryOf } from '../support/schema-arbitrary.ts'

/** What these print has lines of its own; whatever it says is not told as a field of something else. */
const textsOfLines: ReadonlySet<CommandName> = new Set([
  'agents show',
  'checkpoint diff',
  'completion',
  'hook',
  'output',
  'what',
  'workflow show',
])

const names = commandEntries.map(([name]) => name)
const data = new Map<CommandName, unknown[]>()

/** What a command could answer, with a hostile text in place of every text that it may hold. */
function hostileData(name: CommandName): unknown[] {
  const schema = commandOutputs[name] as z.ZodType
  const known = data.get(name)
  if (known !== undefined) return known
  const made = fc
    .sample(arbitraryOf(schema), { seed: 7, numRuns: 40 })
    .filter((value) => schema.safeParse(value).success)
    .slice(0, 12)
    .map((value, i) => poisoned(schema, value, { keys: i % 3 === 0 }))
  data.set(name, made)
  return made
}

test.each(names)('[MUS-303] no text in the data of sm %s acts on a terminal or adds a line', async (name) => {
  const command = await loadCommand(name)
  if ('text' in command) return
  const { render } = command as unknown as {
    render: (data: unknown, view: View, input: object) => string
  }
  for (const value of hostileData(name))
    for (const input of [
      { slice: [] },
      { slice: [], recursive: true, origin: true, print: true, watch: 1, sessions: true, critical: true },
    ])
      for (const color of [false, true]) {
        const printed = terminalText(render(value, { width: 80, now: 0, color }, input))
        expect(printedFaults(printed, { hasLines: textsOfLines.has(name) })).toEqual([])
      }
})

test('[MUS-304] as JSON every text is the same when it is read, and harmless when it is looked at', () => {
  let texts = 0
  for (const name of names)
    for (const value of hostileData(name)) {
      const printed = jsonText(value, 2)
      expect(printedFaults(printed)).toEqual([])
      expect(JSON.parse(printed)).toEqual(JSON.parse(JSON.stringify(value)))
      if (JSON.stringify(value).includes(JSON.stringify(hostile))) texts++
    }
  expect(texts).toBeGreaterThan(100)
})
