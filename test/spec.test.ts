import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { specProblems, specSummary } from '../scripts/spec.ts'

const project = join(import.meta.dirname, '..')
const roots: string[] = []

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
})

/** Writes a small project in which all agrees, with some of its files replaced. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'spec-'))
  roots.push(root)
  const all = {
    'SPEC.md': rules(),
    'spec/names.tsv': names(),
    'src/a.test.ts': titled('[LOG-1] a'),
    ...files,
  }
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}

const good = ['| LOG-1 | first | done |', '| LOG-2 | second \\| more | open |', '| SM-1 | third | open |']
const section = '## Area\n\n| id | rule | state |\n|---|---|---|\n'
const rules = (rows: readonly string[] = good) =>
  `# Rules\n\n| prefix | source |\n|---|---|\n| LOG | one |\n\n${section}${rows.join('\n')}\n`
const names = (rows: readonly string[] = ['1\tfield\tA.b\tLOG-1', '3\toption\t--x\tSM-1']) =>
  `document\tkind\tname\tid\n${rows.join('\n')}\n`
const titled = (...titles: string[]) =>
  titles.map((title) => `test(${JSON.stringify(title)}, () => {})\n`).join('')

/** Fixtures say [ID], so that the check does not read them as titles of this file. */
const cite = (text: string) => text.replaceAll('[ID]', '[LOG-1]')

const problems = (files: Readonly<Record<string, string>>) => specProblems(tree(files)).join('\n')

test('[MUS-224] a tree in which all agrees has no problem', () => {
  expect(problems({})).toBe('')
})

test.each([
  ['an unknown prefix', '| XYZ-1 | rule | open |', 'SPEC.md:11: "XYZ-1" is no id'],
  ['no number', '| LOG- | rule | open |', '"LOG-" is no id'],
  ['a leading zero', '| LOG-03 | rule | open |', '"LOG-03" is no id'],
  ['lower case', '| log-3 | rule | open |', '"log-3" is no id'],
  ['a duplicate', '| LOG-2 | again | open |', 'LOG-2 is already at SPEC.md:12'],
  ['a gap', '| LOG-4 | rule | open |', 'LOG-3 is missing'],
  ['another state', '| LOG-3 | rule | maybe |', 'LOG-3 has the state "maybe"'],
  ['no state', '| LOG-3 | rule |  |', 'LOG-3 has the state ""'],
  ['a missing cell', '| LOG-3 | rule |', 'a rule is written'],
  ['an unescaped bar', '| LOG-3 | this | that | open |', 'a rule is written'],
  ['no text', '| LOG-3 |  | open |', 'a rule is written'],
])('[MUS-224] %s in a rule is caught', (_what, row, expected) => {
  const rows = expected.startsWith('SPEC.md:11') ? [row, ...good] : [...good, row]
  expect(problems({ 'SPEC.md': rules(rows) })).toContain(expected)
})

test('[MUS-225] a rule that is done and cited by no test is caught', () => {
  const found = problems({ 'src/a.test.ts': titled('nothing') })
  expect(found).toBe('SPEC.md:11: LOG-1 is done, but no test cites it')
})

test('[MUS-225] a cited id that does not exist is caught with its place', () => {
  const found = problems({ 'test/deep/b.test.ts': `\n${titled('[LOG-9] b')}` })
  expect(found).toBe('test/deep/b.test.ts:2: [LOG-9] is cited, but SPEC.md has no such rule')
})

test.each([
  ['a list', titled('[LOG-2, LOG-1] a')],
  ['a row of ids', titled('[LOG-2][LOG-1] a')],
  ['an id further on', titled('a thing [LOG-1]')],
  ['it', "it('[ID] a', () => {})"],
  ['describe', "describe('[ID] a', () => {})"],
  ['a modifier', "test.concurrent('[ID] a', () => {})"],
  ['a line break', "test(\n  '[ID] a',\n  () => {},\n)"],
  ['a template', 'for (const n of all) test(`[ID] ${n}`, () => {})'],
  ['a table', "test.each([[')', 1], [f(2), '(']])('[ID] %s', () => {})"],
  ['a tagged table', "test.each`a\n${1}`('[ID] $a', () => {})"],
])('[MUS-225] %s cites', (_what, text) => {
  expect(problems({ 'src/a.test.ts': cite(text) })).toBe('')
})

test.each([
  ['a skipped test', "test.skip('[ID] a', () => {})"],
  ['a test to be written', "test.todo('[ID] a')"],
  ['a comment', "// test('[ID] a', () => {})"],
  ['a block comment', "/**\n * test('[ID] a', () => {})\n */"],
  ['another call', "expect(x).toBe('[ID]')\nlatest('[ID]')\nre.test('[ID]')"],
  ['a string in the body', "test('a', () => say('[ID]'))"],
])('[MUS-225] %s cites nothing', (_what, text) => {
  expect(problems({ 'src/a.test.ts': cite(text) })).toBe('SPEC.md:11: LOG-1 is done, but no test cites it')
})

const everyTestCanSkip = 'SPEC.md:11: LOG-1 is done, but every test that cites it can skip (src/a.test.ts:'

test.each([
  ['skipIf', "test.skipIf(!isRoot)('[ID] a', () => {})"],
  ['runIf', "test.runIf(isRoot)('[ID] a', () => {})"],
  ['the option skip', "test('[ID] a', { skip: !isRoot }, () => {})"],
  ['skip of its context', "test('[ID] a', (context) => { if (!cli) context.skip(why) })"],
  ['skip taken out of its context', "test.for(all)('[ID] a', async (one, { skip }) => skip(why))"],
  [
    'skip inside of its describe',
    "describe('a', () => { beforeEach(({ skip }) => skip()); test('[ID] a', f) })",
  ],
  ['skipIf on its describe', "describe.skipIf(x)('a', () => { test('[ID] a', f) })"],
  ['skip on its describe', "describe.skip('a', () => { test('[ID] a', f) })"],
  ['a helper in its file', "test('[ID] a', open)\nfunction open(context) {\n  return context.skip()\n}"],
  ['a test inside, where a describe cites', "describe('[ID] a', () => { test('b', ({ skip }) => skip()) })"],
])('[MUS-287] a rule is not proved by a test that can skip: %s', (_what, text) => {
  expect(problems({ 'src/a.test.ts': cite(text) })).toContain(everyTestCanSkip)
})

test.each([
  ['another test', "test('a', ({ skip }) => skip())\ntest('[ID] b', f)"],
  [
    'another describe',
    "describe('a', () => { beforeEach(({ skip }) => skip()); test('b', f) })\ntest('[ID] c', f)",
  ],
  ['a string', "test('[ID] a', () => say('skip()'))"],
  ['a comment', "test('[ID] a', () => {}) // skip()"],
  ['another word', "test('[ID] a', () => skipped() + skipTo(1))"],
  ['a test that is skipped beside it', "test.skip('a', f)\ntest('[ID] a', f)"],
  ['one of two', "test.skipIf(x)('[ID] a', f)\ntest('[ID] b', f)"],
])('[MUS-287] what skips elsewhere does not matter: %s', (_what, text) => {
  expect(problems({ 'src/a.test.ts': cite(text) })).toBe('')
})

test('[MUS-287] a file of helpers that skips makes every test that imports it one that can skip', () => {
  const test = cite("import { open } from '../test/support/open.ts'\ntest('[ID] a', open)\n")
  const helper = (text: string) => problems({ 'test/support/open.ts': text, 'src/a.test.ts': test })
  expect(helper('export const open = (context) => context.skip()\n')).toContain(everyTestCanSkip)
  expect(helper('export const open = () => {}\n')).toBe('')
})

test('[MUS-287] done with CLI: a test of the real CLIs cites it, and no other could', () => {
  const withCli = (files: Readonly<Record<string, string>>) =>
    problems({ 'SPEC.md': rules(['| LOG-1 | first | done with CLI |', '| SM-1 | third | open |']), ...files })
  const skips = cite("test('[ID] a', ({ skip }) => skip())")
  const none = { 'src/a.test.ts': titled('nothing') }
  expect(withCli({ ...none, 'test/real-cli/b.test.ts': skips })).toBe('')
  expect(withCli({ 'src/a.test.ts': skips })).toBe(
    'SPEC.md:11: LOG-1 is done with CLI, but no test in test/real-cli cites it',
  )
  expect(withCli({ 'test/real-cli/b.test.ts': skips })).toBe(
    'SPEC.md:11: LOG-1 is done with CLI, but a test that cannot skip cites it; it is done',
  )
})

test('[MUS-287] a superseded rule needs no test, but a rule that holds now', () => {
  const superseded = (by: string, second = '| LOG-2 | second | open |') =>
    problems({
      'SPEC.md': rules([`| LOG-1 | first | superseded by ${by} |`, second, '| SM-1 | x | open |']),
      'src/a.test.ts': titled('nothing'),
    })
  expect(superseded('SM-1')).toBe('')
  expect(superseded('SM-9')).toBe('SPEC.md:11: LOG-1 is superseded by SM-9, but SPEC.md has no such rule')
  expect(superseded('LOG-2', '| LOG-2 | second | superseded by SM-1 |')).toBe(
    'SPEC.md:11: LOG-1 is superseded by LOG-2, which is superseded itself; name the rule that holds now',
  )
  expect(superseded('LOG-1')).toContain('LOG-1 is superseded by LOG-1, which is superseded itself')
})

test.each([
  ['one id of a list', '[LOG-1, LOG-8] a', 'LOG-8'],
  ['one id of a row', '[LOG-1][LOG-8] a', 'LOG-8'],
  ['an unknown prefix', '[LOG-1][LGO-1] a', 'LGO-1'],
  ['ids without a comma', '[LOG-1][LOG-1 LOG-2] a', 'LOG-1 LOG-2'],
  ['a range', '[LOG-1][LOG-1..2] a', 'LOG-1..2'],
])('[MUS-225] %s that does not exist is caught', (_what, title, id) => {
  expect(problems({ 'src/a.test.ts': titled(title) })).toBe(
    `src/a.test.ts:1: [${id}] is cited, but SPEC.md has no such rule`,
  )
})

test('[MUS-225] a shared suite cites only when a test file imports it', () => {
  const suite = { 'test/suites/journal.ts': titled('[LOG-1] a') }
  expect(problems({ ...suite, 'src/a.test.ts': "import '../test/suites/journal.ts'\n" })).toBe('')
  expect(problems({ ...suite, 'src/a.test.ts': titled('a') })).toContain(
    'LOG-1 is done, but no test cites it',
  )
})

test.each([
  ['an empty id', '1\tfield\tA.c\t', 'spec/names.tsv:4: field "A.c" has no rule'],
  ['a padded name', '1\tfield\tA.c \tLOG-1', 'a row is'],
  ['a fifth cell', '1\tfield\tA.c\tLOG-1\t', 'a row is'],
  ['an unknown id', '1\tfield\tA.c\tLOG-9', 'field "A.c" names LOG-9, but SPEC.md has no such rule'],
  ['a missing cell', '1\tfield\tLOG-1', 'a row is'],
  ['spaces for tabs', '1 field A.c LOG-1', 'a row is'],
  ['an unknown document', '6\tfield\tA.c\tLOG-1', 'a row is'],
  ['an empty name', '1\tfield\t\tLOG-1', 'a row is'],
  ['an empty kind', '1\t\tA.c\tLOG-1', 'a row is'],
  ['an empty line', '\n1\tfield\tA.c\tLOG-1', 'spec/names.tsv:4: a row is'],
  ['a repeated row', '1\tfield\tA.b\tLOG-1', 'field "A.b" of document 1 is there twice'],
  ['a name with two rules', '1\tfield\tA.b\tLOG-2', 'field "A.b" of document 1 is there twice'],
])('[MUS-226] %s in the list of names is caught', (_what, row, expected) => {
  const found = problems({ 'spec/names.tsv': names(['1\tfield\tA.b\tLOG-1', '3\toption\t--x\tSM-1', row]) })
  expect(found).toContain(expected)
})

test('[MUS-226] a list of names without its header is caught', () => {
  expect(problems({ 'spec/names.tsv': '1\tfield\tA.b\tLOG-1\n' })).toContain(
    'spec/names.tsv:1: the first line',
  )
})

test('[MUS-227] no rules, no names and no test files are each caught', () => {
  const introOnly = problems({ 'SPEC.md': '# Rules\n\n| LOG | one |\n' })
  expect(introOnly).toContain('SPEC.md: no rules were found')
  expect(introOnly).not.toContain('a rule is written')
  expect(problems({ 'spec/names.tsv': names([]).trimEnd() })).toContain('spec/names.tsv: no names were found')
  const empty = mkdtempSync(join(tmpdir(), 'spec-'))
  roots.push(empty)
  expect(specProblems(empty)).toEqual([
    'spec/names.tsv:1: the first line is "document, kind, name, id" with tabs',
    'spec/names.tsv: no names were found',
    'SPEC.md: no rules were found',
    'no test files were found in src or test',
  ])
})

test('[MUS-224] the summary counts rules by prefix and state', () => {
  const summary = specSummary(tree({}))
  expect(summary).toMatchObject({
    LOG: { done: 1, open: 1 },
    SM: { done: 0, open: 1 },
    MUS: { done: 0, open: 0 },
  })
})

test('[MUS-224, MUS-225, MUS-226] the rules, names and tests of this project agree', () => {
  expect(specProblems(project)).toEqual([])
})

test('[MUS-227] run as a program it prints the counts, and exits 1 with the problems', () => {
  const run = (root: string) => {
    const script = join(root, 'scripts/spec.ts')
    mkdirSync(join(root, 'scripts/architecture'), { recursive: true })
    for (const file of ['scripts/spec.ts', 'scripts/architecture/blank-text.ts'])
      copyFileSync(join(project, file), join(root, file))
    return spawnSync(process.execPath, ['--no-warnings', script], { encoding: 'utf8' })
  }
  expect(run(tree({}))).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('LOG 1/2') })
  const bad = run(tree({ 'src/a.test.ts': titled('nothing') }))
  expect(bad).toMatchObject({ status: 1, stderr: 'SPEC.md:11: LOG-1 is done, but no test cites it\n' })
})
