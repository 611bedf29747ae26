import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { blankText } from './architecture/blank-text.ts'

const prefixes = ['LOG', 'COL', 'SM', 'RUN', 'OBS', 'MUS']
const wellFormed = new RegExp(`^(?:${prefixes.join('|')})-[1-9]\\d*$`)
/** Proved by the real agent CLIs alone: by the tests of test/real-cli, which skip where a CLI is not installed. */
const doneWithCli = 'done with CLI'
const states = ['open', 'done', doneWithCli]
const ruleHeader = '| id | rule | state |'
const nameHeader = 'document\tkind\tname\tid'

type Rule = { readonly id: string; readonly state: string; readonly at: string }
type Citation = { readonly id: string; readonly at: string; readonly canSkip: boolean }
type Source = { readonly file: string; readonly text: string }

/** Everything in which SPEC.md, spec/names.tsv and the titles of the tests disagree. */
export function specProblems(root: string): string[] {
  const { rules, problems } = readRules(root)
  const tests = testSources(root)
  const cited = tests.flatMap((source) => citations(source, importsSkip(root, source)))
  const known = new Set(rules.map(({ id }) => id))

  problems.push(...missingNumbers(known), ...nameProblems(root, known), ...supersededProblems(rules))
  for (const rule of rules)
    problems.push(
      ...proofProblems(
        rule,
        cited.filter(({ id }) => id === rule.id),
      ),
    )
  for (const { id, at } of cited)
    if (!known.has(id)) problems.push(`${at}: [${id}] is cited, but SPEC.md has no such rule`)
  if (rules.length === 0) problems.push('SPEC.md: no rules were found')
  if (tests.length === 0) problems.push('no test files were found in src or test')
  return problems
}

/** A test that skips where a program is missing proves nothing there, and nobody notices. */
function proofProblems({ id, state, at }: Rule, tests: readonly Citation[]): string[] {
  const places = tests.map((test) => test.at).join(', ')
  const canAllSkip = tests.every(({ canSkip }) => canSkip)
  if (state === 'done') {
    if (tests.length === 0) return [`${at}: ${id} is done, but no test cites it`]
    return canAllSkip ? [`${at}: ${id} is done, but every test that cites it can skip (${places})`] : []
  }
  if (state !== doneWithCli) return []
  if (!tests.some((test) => test.at.startsWith('test/real-cli/')))
    return [`${at}: ${id} is ${doneWithCli}, but no test in test/real-cli cites it`]
  return canAllSkip
    ? []
    : [`${at}: ${id} is ${doneWithCli}, but a test that cannot skip cites it; it is done`]
}

/** The next free number of Muster's own rules: ids have no gaps. */
const nextRule = (root: string): string =>
  `MUS-${readRules(root).rules.filter(({ id }) => id.startsWith('MUS-')).length + 1}`

/** How many rules of each prefix are done and open; one that is superseded is neither. */
export function specSummary(root: string): Record<string, { done: number; open: number }> {
  const { rules } = readRules(root)
  const count = (prefix: string, state: string) =>
    rules.filter((rule) => rule.id.startsWith(`${prefix}-`) && rule.state === state).length
  return Object.fromEntries(
    prefixes.map((p) => [p, { done: count(p, 'done') + count(p, doneWithCli), open: count(p, 'open') }]),
  )
}

function readRules(root: string): { rules: Rule[]; problems: string[] } {
  const rules: Rule[] = []
  const problems: string[] = []
  const seen = new Map<string, string>()
  const lines = textOf(root, 'SPEC.md').split('\n')
  // The introduction, before the first section, may have tables of its own.
  const start = lines.findIndex((line) => line.startsWith('## '))
  lines.forEach((line, index) => {
    const isRow = index >= start && start >= 0 && /^\s*\|/.test(line)
    if (!isRow || line === ruleHeader || /^[|\-: ]+$/.test(line)) return
    const at = `SPEC.md:${index + 1}`
    const cells = line.trim().split(/(?<!\\)\|/)
    const [id = '', rule = '', state = ''] = cells.slice(1).map((cell) => cell.trim())
    if (cells.length !== 5 || cells[4] !== '' || rule === '')
      problems.push(`${at}: a rule is written "| id | rule | state |"`)
    else if (!wellFormed.test(id))
      problems.push(`${at}: "${id}" is no id; one is ${prefixes.join(', ')} and a number, like LOG-12`)
    else if (seen.has(id)) problems.push(`${at}: ${id} is already at ${seen.get(id)}`)
    else {
      if (!states.includes(state) && successor(state) === undefined)
        problems.push(`${at}: ${id} has the state "${state}"; it is ${states.join(', ')} or superseded by ID`)
      seen.set(id, at)
      rules.push({ id, state, at })
    }
  })
  return { rules, problems }
}

/** The rule that took the place of this one, from its state. */
const successor = (state: string): string | undefined => /^superseded by (\S+)$/.exec(state)?.[1]

function supersededProblems(rules: readonly Rule[]): string[] {
  const states = new Map(rules.map(({ id, state }) => [id, state]))
  return rules.flatMap(({ id, state, at }) => {
    const next = successor(state)
    if (next === undefined) return []
    const found = states.get(next)
    if (found === undefined) return [`${at}: ${id} is superseded by ${next}, but SPEC.md has no such rule`]
    return successor(found) === undefined
      ? []
      : [`${at}: ${id} is superseded by ${next}, which is superseded itself; name the rule that holds now`]
  })
}

// A gap means that a rule was removed or renumbered, and titles that cite it now prove something else.
function missingNumbers(known: ReadonlySet<string>): string[] {
  return prefixes.flatMap((prefix) => {
    const numbers = [...known]
      .filter((id) => id.startsWith(`${prefix}-`))
      .map((id) => Number(id.split('-')[1]))
    const gaps = Array.from({ length: numbers.length }, (_, i) => i + 1).filter(
      (n) => !known.has(`${prefix}-${n}`),
    )
    return gaps.map((n) => `SPEC.md: ${prefix}-${n} is missing; ids have no gaps and are never removed`)
  })
}

function nameProblems(root: string, known: ReadonlySet<string>): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  const [header, ...rows] = textOf(root, 'spec/names.tsv').replace(/\n$/, '').split('\n')
  if (header !== nameHeader)
    problems.push('spec/names.tsv:1: the first line is "document, kind, name, id" with tabs')
  if (rows.length === 0) problems.push('spec/names.tsv: no names were found')
  rows.forEach((row, index) => {
    const at = `spec/names.tsv:${index + 2}`
    const cells = row.split('\t')
    const [document = '', kind = '', name = '', id = ''] = cells
    const key = `${document}\t${kind}\t${name}`
    if (cells.length !== 4 || !/^[1-5]$/.test(document) || kind === '' || name === '' || cells.some(padded))
      problems.push(`${at}: a row is a document (1 to 5), kind, name and id with tabs between`)
    else if (seen.has(key)) problems.push(`${at}: ${kind} "${name}" of document ${document} is there twice`)
    else if (id === '') problems.push(`${at}: ${kind} "${name}" has no rule`)
    else if (!known.has(id))
      problems.push(`${at}: ${kind} "${name}" names ${id}, but SPEC.md has no such rule`)
    seen.add(key)
  })
  return problems
}

const padded = (cell: string) => cell !== cell.trim()

/** Test files, and the shared suites of test/suites that one of them imports. */
function testSources(root: string): Source[] {
  const read = (file: string): Source => ({ file, text: textOf(root, file) })
  const files = ['src', 'test'].flatMap((folder) => filesIn(root, folder))
  const tests = files.filter((file) => /\.test\.tsx?$/.test(file)).map(read)
  const suites = files.filter((file) => /^test\/suites\/.*(?<!\.test)\.ts$/.test(file)).map(read)
  const isRun = ({ file }: Source) => tests.some(({ text }) => text.includes(`/${basename(file)}'`))
  return [...tests, ...suites.filter(isRun)]
}

/** Whether a file that the tests of this one import from test/support or test/suites can skip them. */
function importsSkip(root: string, { text }: Source): boolean {
  const imported = text.matchAll(/\/((?:support|suites)\/[\w./-]+\.ts)'/g)
  return [...imported].some(([, file = '']) => skipPlaces(codeOf(textOf(root, `test/${file}`))).length > 0)
}

function citations({ file, text }: Source, everyTestCanSkip: boolean): Citation[] {
  const calls = testCalls(text)
  const skips = skipPlaces(codeOf(text))
  return calls.flatMap((call) => {
    const at = `${file}:${text.slice(0, call.start).split('\n').length}`
    const canSkip = everyTestCanSkip || canSkipAtRunTime(call, calls, skips)
    const lists = [...call.title.matchAll(/\[([A-Z]+-\d[^\]]*)\]/g)].map(([, list = '']) => list)
    return lists.flatMap((list) => list.split(',').map((id) => ({ id: id.trim(), at, canSkip })))
  })
}

type TestCall = {
  readonly title: string
  /** What follows `test`, `it` or `describe`, such as `.skipIf`. */
  readonly modifiers: string
  readonly start: number
  readonly end: number
}

/** A skip inside of a test or describe is about that one; a skip outside of all of them is in a helper that any may call. */
function canSkipAtRunTime(call: TestCall, calls: readonly TestCall[], skips: readonly number[]): boolean {
  const holds = (outer: TestCall, place: number) => outer.start <= place && place < outer.end
  const around = calls.filter((outer) => holds(outer, call.start))
  if (around.some(({ modifiers }) => /\.(?:skip|skipIf|runIf|todo)\b/.test(modifiers))) return true
  return skips.some((skip) => {
    const innermost = calls.findLast((outer) => holds(outer, skip))
    return innermost === undefined || around.includes(innermost) || holds(call, skip)
  })
}

// Blanking is slow, and few files have a word that matters.
const codeOf = (text: string): string => (/skip|runIf/.test(text) ? blankText(text) : text)

/** Where code skips the test that runs: `skip(…)` of its context, or the option `skip`. */
function skipPlaces(code: string): number[] {
  return [...code.matchAll(/(?<!\b(?:test|it|describe)(?:\.\w+)*\.)\bskip\s*[(:]/g)].map(({ index }) => index)
}

/** Each test, it and describe whose first argument is a literal, outermost first; one that is skipped or commented out has no title. */
function testCalls(text: string): TestCall[] {
  const calls: TestCall[] = []
  const code = codeOf(text)
  for (const call of text.matchAll(/(?<![\w.'"`])(?:test|it|describe)((?:\.\w+)*)\s*(?=[(`])/g)) {
    const [, modifiers = ''] = call
    const before = text.slice(text.lastIndexOf('\n', call.index) + 1, call.index)
    if (/^\s*(?:\/\*|\*)|\/\//.test(before)) continue
    let at = call.index + call[0].length
    let title = literalAt(text, at)
    // `test.each(table)('title')` has its title in the second pair of brackets.
    if (title === undefined && modifiers !== '') {
      at = afterArguments(text, at)
      title = literalAt(text, at)
    }
    if (title === undefined) continue
    const isOff = /\.(?:skip|todo)\b/.test(modifiers)
    calls.push({ title: isOff ? '' : title, modifiers, start: call.index, end: afterArguments(code, at) })
  }
  return calls
}

function literalAt(text: string, at: number): string | undefined {
  const found = /\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/y
  found.lastIndex = at
  const match = found.exec(text)
  return match === null ? undefined : (match[1] ?? match[2] ?? match[3])
}

/** The place after a bracketed argument list or a template literal, with brackets inside strings left out. */
function afterArguments(text: string, start: number): number {
  const token = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|[()]/g
  token.lastIndex = start
  let depth = 0
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    if (match[0] === '(') depth++
    if (match[0] === ')') depth--
    if (depth === 0) return token.lastIndex
  }
  return text.length
}

function filesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .sort()
}

function textOf(root: string, file: string): string {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const problems = specProblems(root)
  for (const problem of problems) console.error(problem)
  const counts = Object.entries(specSummary(root)).map(([p, { done, open }]) => `${p} ${done}/${done + open}`)
  console.log(`rules done: ${counts.join('  ')}; the next of ours is ${nextRule(root)}`)
  if (problems.length > 0) process.exitCode = 1
}
