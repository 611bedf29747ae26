import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { blankText } from './blank-text.ts'
import { type Import, lineAt, readImports } from './read-imports.ts'
import { dividedFolder, type FolderRule, table } from './table.ts'

const isTest = (file: string) => /\.test\.tsx?$/.test(file)

const worldly =
  /(?<![.\w$])(?:Date\.now|new\s+Date\b(?!\s*\(\s*[^\s)])|Date\s*\(\s*\)|Math\.random|randomUUID|setTimeout|setInterval|setImmediate|performance\.now|globalThis|process\s*(?=[.[])|console\s*(?=[.[]))|\b(?:crypto\.)?randomUUID\b/g
const waiting = /(?<![.\w$])(?:await|async)\b/g

/** Names every place of a source folder that breaks the table, and says so when there was nothing to look at. */
export function violations(src: string): string[] {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .sort()
  const checked = files.filter((file) => !isTest(file))
  if (checked.length === 0) return [`${src}: no files were checked`]
  return checked.flatMap((file) => violationsOf(src, file))
}

function violationsOf(src: string, file: string): string[] {
  const folder = file.split('/')[0] ?? ''
  const rule = table[folder]
  if (!file.includes('/')) return [`${file}: lies outside every folder of the table`]
  if (rule === undefined) return [`${file}: the folder ${folder} is not in the table`]
  if (folder === dividedFolder && file.split('/').length < 3)
    return [`${file}: lies outside every folder of ${folder}`]
  const source = readFileSync(join(src, file), 'utf8')
  const code = blankText(source)
  const imported = readImports(source, code).flatMap((one) => {
    const problem = problemOf(one, { src, file, folder, rule })
    return problem === undefined ? [] : [`${file}:${one.line}: ${problem}`]
  })
  return [
    ...imported,
    ...(rule.world === 'given' ? uses(worldly) : []),
    ...(rule.isSynchronous ? uses(waiting) : []),
  ]

  function uses(pattern: RegExp): string[] {
    return [...code.matchAll(pattern)].map(
      (match) => `${file}:${lineAt(source, match.index)}: ${folder} may not use ${match[0].trim()}`,
    )
  }
}

type Importer = {
  readonly src: string
  readonly file: string
  readonly folder: string
  readonly rule: FolderRule
}

function problemOf({ target, isLazy }: Import, from: Importer): string | undefined {
  const { rule, folder } = from
  if (target === '') return 'an import whose target is computed cannot be checked; name it'
  if (!target.startsWith('.')) return problemOfPackage(target, folder, rule)
  const to = relative(from.src, resolve(from.src, dirname(from.file), target))
  if (to === join('..', 'package.json'))
    return rule.readsManifest ? undefined : `${folder} may not read the manifest`
  if (to.startsWith('..')) return `${target} lies outside src`
  if (isTest(to)) return `${target} is a test and may not be imported`
  if (partOf(to) === partOf(from.file)) return undefined
  const isIn = (allowed: string) => allowed === '*' || to.startsWith(`${allowed}/`)
  if (rule.folders.some(isIn)) return undefined
  if (rule.lazily?.some(isIn)) return isLazy ? undefined : `${folder} may load ${partOf(to)} only by import()`
  return `${partOf(from.file)} may not import ${partOf(to)}`
}

function problemOfPackage(target: string, folder: string, rule: FolderRule): string | undefined {
  if (isBuiltin(target)) {
    if (!target.startsWith('node:')) return `write node:${target}`
    return rule.usesNode ? undefined : `${folder} may not use Node (${target})`
  }
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
  return rule.packages.includes(name) ? undefined : `${folder} may not use the package ${name}`
}

/** The unit that the table speaks of: a folder of `src`, or one folder of the divided one. */
function partOf(file: string): string {
  const [first = '', second = ''] = file.split('/')
  return first === dividedFolder ? `${first}/${second}` : first
}
