import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const prefixes = ['LOG', 'COL', 'SM', 'RUN', 'OBS', 'MUS']
const wellFormed = new RegExp(`^(?:${prefixes.join('|')})-[1-9]\\d*$`)
const ruleHeader = '| id | rule | state |'
const nameHeader = 'document\tkind\tname\tid'

type Rule = { readonly id: string; readonly state: string; readonly at: string }
type Citation = { readonly id: string; readonly at: string }
type Source = { readonly file: string; readonly text: string }

/** Everything in which SPEC.md, spec/names.tsv and the titles of the tests disagree. */
export function specProblems(root: string): string[] {
  const { rules, problems } = readRules(root)
  const tests = testSources(root)
  const cited = tests.flatMap(citations)
  const citedIds = new Set(cited.map(({ id }) => id))
  const known = new Set(rules.map(({ id }) => id))

  problems.push(...missingNumbers(known), ...nameProblems(root, known))
  for (const { id, state, at } of rules)
    if (state === 'done' && !citedIds.has(id)) problems.push(`${at}: ${id} is done, but no test cites it`)
  for (const { id, at } of cited)
    if (!known.has(id)) problems.push(`${at}: [${id}] is cited, but SPEC.md has no such rule`)
  if (rules.length === 0) problems.push('SPEC.md: no rules were found')
  if (tests.length === 0) problems.push('no test files were found in src or test')
  return problems
}

/** How many rules of each prefix are done and open. */
export function specSummary(root: string): Record<string, { done: number; open: number }> {
  const { rules } = readRules(root)
  const count = (prefix: string, state: string) =>
    rules.filter((rule) => rule.id.startsWith(`${prefix}-`) && rule.state === state).length
  return Object.fromEntries(prefixes.map((p) => [p, { done: count(p, 'done'), open: count(p, 'open') }]))
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
      if (state !== 'done' && state !== 'open')
        problems.push(`${at}: ${id} has the state "${state}"; it is done or open`)
      seen.set(id, at)
      rules.push({ id, state, at })
    }
  })
  return { rules, problems }
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

function citations({ file, text }: Source): Citation[] {
  return testTitles(text).flatMap(({ title, offset }) => {
    const at = `${file}:${text.slice(0, offset).split('\n').length}`
    const lists = [...title.matchAll(/\[([A-Z]+-\d[^\]]*)\]/g)].map(([, list = '']) => list)
    return lists.flatMap((list) => list.split(',').map((id) => ({ id: id.trim(), at })))
  })
}

type Title = { readonly title: string; readonly offset: number }

/** The first argument of each test, it and describe that is a literal; a skipped or commented-out test has none. */
function testTitles(text: string): Title[] {
  const titles: Title[] = []
  for (const call of text.matchAll(/(?<![\w.'"`])(?:test|it|describe)((?:\.\w+)*)\s*(?=[(`])/g)) {
    const before = text.slice(text.lastIndexOf('\n', call.index) + 1, call.index)
    if (/\.(?:skip|todo)\b/.test(call[1] ?? '') || /^\s*(?:\/\*|\*)|\/\//.test(before)) continue
    let at = call.index + call[0].length
    let title = literalAt(text, at)
    // `test.each(table)('title')` has its title in the second pair of brackets.
    if (title === undefined && (call[1] ?? '') !== '') {
      at = afterArguments(text, at)
      title = literalAt(text, at)
    }
    if (title !== undefined) titles.push({ title, offset: call.index })
  }
  return titles
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
  console.log(`rules done: ${counts.join('  ')}`)
  if (problems.length > 0) process.exitCode = 1
}
