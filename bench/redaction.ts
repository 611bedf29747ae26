import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { createRedactor } from '../src/core/redaction/redactor.ts'
import { type SecretSample, secretSamples } from '../test/support/secret-kinds.ts'
import { treeOf } from './support/compare.ts'
import { type Figure, median, ratio } from './support/figure.ts'

export const about =
  'redaction: how many made-up secrets are found, false alarms in real code and speed, against the recommended rules of secretlint, and with --before=COMMIT against the redactor of that commit'

const perKind = 20
const codeBytes = 5_000_000
const textChars = 600
const rounds = 9
const redactor = createRedactor()
type Redactor = typeof redactor

export async function run(): Promise<Figure[]> {
  const samples = secretSamples(perKind)
  const kinds = new Set(samples.map(({ kind }) => kind)).size
  const files = realCode()
  const ours = samples.filter((sample) => isRedacted(sample)).length
  const theirs = await count(samples, foundBySecretlint)
  const ourAlarms = files.reduce((sum, text) => sum + redactor.find(text).length, 0)
  const theirAlarms = await count(files, async (text) => (await secretlint(text)).length)
  const texts = files.flatMap((text) => text.match(inTexts) ?? [])
  const before = await redactorBefore()
  const speed = await speeds(texts, before ?? redactor)
  return [
    { what: 'kinds of secrets', value: kinds, unit: 'kinds', atLeast: 150 },
    { what: 'samples', value: samples.length, unit: 'texts' },
    share('found', ours / samples.length, { atLeast: Math.max(99, (theirs / samples.length) * 100) }),
    share('found by secretlint', theirs / samples.length),
    { what: 'false alarms in 5 MB of real code', value: ourAlarms, unit: 'alarms', atMost: theirAlarms },
    { what: 'false alarms of secretlint', value: theirAlarms, unit: 'alarms' },
    { what: 'redactor on ordinary text', value: Math.round(speed.ours), unit: 'MB/s' },
    { what: 'secretlint on ordinary text', value: Math.round(speed.theirs * 10) / 10, unit: 'MB/s' },
    ratio('redactor / secretlint', speed.ours / speed.theirs, { atLeast: 1 }),
    ratio('redactor / one search for a fixed text', speed.againstSearch, { atLeast: 0.01 }),
    ...(before ? [ratio('redactor / redactor before', speed.ours / speed.before, { atLeast: 0.95 })] : []),
  ]
}

/** The redactor of the commit that is asked for. */
async function redactorBefore(): Promise<Redactor | undefined> {
  const commit = process.argv.find((word) => word.startsWith('--before='))?.slice('--before='.length)
  if (commit === undefined) return undefined
  const file = join(treeOf(commit).root, 'src/core/redaction/redactor.ts')
  return ((await import(file)) as { createRedactor(): Redactor }).createRedactor()
}

/** Found whole: no stretch of twelve characters of the secret is left. */
function isRedacted({ text, secret }: SecretSample): boolean {
  const out = redactor.text(text).text
  for (let at = 0; at === 0 || at + 12 <= secret.length; at++)
    if (out.includes(secret.slice(at, at + 12))) return false
  return true
}

/** A report that touches the secret anywhere counts. */
async function foundBySecretlint({ text, secret }: SecretSample): Promise<number> {
  const at = text.indexOf(secret)
  const reports = await secretlint(text)
  return reports.some(({ range: [start, end] }) => start < at + secret.length && end > at) ? 1 : 0
}

async function secretlint(content: string): Promise<readonly { range: readonly [number, number] }[]> {
  const { messages } = await lintSource({
    source: { filePath: 'sample.txt', content, contentType: 'text' },
    options: { noPhysicFilePath: true, config: { rules: [{ id: preset, rule: creator }] } },
  })
  return messages as unknown as readonly { range: readonly [number, number] }[]
}

const preset = '@secretlint/secretlint-rule-preset-recommend'

async function count<T>(items: readonly T[], figure: (item: T) => Promise<number>): Promise<number> {
  let sum = 0
  for (const item of items) sum += await figure(item)
  return sum
}

/** Programs, types, data and prose of the installed packages, the same ones each time. */
function realCode(): string[] {
  const root = join(import.meta.dirname, '../node_modules')
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:js|ts|json|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    // Its own rules and examples would be alarms of the other side.
    .filter((path) => !path.includes('/@secretlint/'))
    .toSorted()
  const files: string[] = []
  let bytes = 0
  for (const path of paths) {
    if (bytes >= codeBytes) break
    const text = readFileSync(path, 'utf8')
    bytes += text.length
    files.push(text)
  }
  return files
}

const inTexts = new RegExp(`[^]{1,${textChars}}`, 'g')

/** All alternate inside one run and are counted in processor time, so that a busy machine slows all of them. */
async function speeds(
  texts: readonly string[],
  before: Redactor,
): Promise<Record<'ours' | 'before' | 'theirs' | 'againstSearch', number>> {
  const few = texts.slice(0, 200)
  const ours: number[] = []
  const earlier: number[] = []
  const theirs: number[] = []
  const searches: number[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(processorMs(() => texts.reduce((sum, text) => sum + redactor.find(text).length, 0)))
    earlier.push(processorMs(() => texts.reduce((sum, text) => sum + before.find(text).length, 0)))
    searches.push(processorMs(() => texts.reduce((sum, text) => sum + text.indexOf('-----BEGIN '), 0)))
    const start = process.cpuUsage()
    for (const text of few) await secretlint(text)
    theirs.push(msSince(start))
  }
  return {
    ours: megabytes(texts) / (median(ours) / 1000),
    before: megabytes(texts) / (median(earlier) / 1000),
    theirs: megabytes(few) / (median(theirs) / 1000),
    againstSearch: median(searches) / median(ours),
  }
}

const megabytes = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0) / 1e6

function processorMs(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  return msSince(start)
}

function msSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function share(what: string, part: number, bound: { atLeast?: number } = {}): Figure {
  return { what, value: Math.round(part * 10_000) / 100, unit: '%', ...bound }
}
