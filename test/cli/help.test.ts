import { describe, expect, test } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse-command-line.ts'
import { commandHelp, familyHelp, rootHelp } from '../../src/cli/render/help.ts'
import { textWidth } from '../../src/cli/render/text-width.ts'
import { shellWords } from '../../src/cli/shell-words.ts'
import { commandEntries } from '../../src/contract/cli.ts'

const names = commandEntries.map(([name]) => name)
const families = [
  ...new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
]
const pages: [string, string][] = [
  ['sm', rootHelp()],
  ...families.map((family): [string, string] => [`sm ${family}`, familyHelp(family)]),
  ...names.map((name): [string, string] => [`sm ${name}`, commandHelp(name)]),
]

describe('help', () => {
  test.each(pages)('[MUS-112] %s fits 80 columns', (_name, page) => {
    for (const line of page.split('\n')) expect(textWidth(line), line).toBeLessThanOrEqual(80)
  })

  test('[MUS-108] sm help has every command once', () => {
    for (const name of names) {
      expect(
        rootHelp()
          .split('\n')
          .filter((line) => new RegExp(`^ {2}${name}( [<[-]| {2}|$)`).test(line)),
        name,
      ).toHaveLength(1)
    }
  })

  test.each(commandEntries)('[MUS-112] %s has examples that parse', async (name, { examples }) => {
    for (const { line } of examples) {
      expect(commandHelp(name)).toContain(`  ${line}\n`)
      // What a shell would hand over: the part that is ours, without redirection and what follows it.
      const ours = /(?:^|<\()sm (.*?)(?: > .*| && .*|\)$|$)/.exec(line)?.[1] ?? ''
      expect(await parseCommandLine(shellWords(ours))).toMatchObject({ kind: 'command', name })
    }
  })

  test.each([
    ['root', rootHelp()],
    ['journal', familyHelp('journal')],
    ['journal-tail', commandHelp('journal tail')],
    ['completion', commandHelp('completion')],
  ])('[MUS-112] the help of %s reads as it was approved', async (name, page) => {
    await expect(`${page}\n`).toMatchFileSnapshot(`golden/help-${name}.txt`)
  })
})
