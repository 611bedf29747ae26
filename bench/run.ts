/**
 * `npm run bench [NAME…] [-- --OPTION…]`: each benchmark in a process of its own, one table, exit 1 when a bound is broken.
 * With `--against=COMMIT [--pairs=10] [--within=PERCENT]` the same in two commits in turn, and the medians of both.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { compare } from './support/compare.ts'
import { type Figure, holds } from './support/figure.ts'

type Bench = { about: string; run(): Promise<Figure[]> }

const folder = import.meta.dirname
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3))
  .sort()
const words = process.argv.slice(2)

if (words[0] === '--one') await runOne(words[1] ?? '')
else {
  const named = words.filter((word) => !word.startsWith('--'))
  const wanted = named.length === 0 ? names : named
  const against = option('against')
  const options = words.filter((word) => /^--(?!against=|pairs=|within=)/.test(word))
  if (against === undefined) runMany(wanted, options)
  else {
    const within = option('within')
    const asked = { names: wanted, against, pairs: Number(option('pairs') ?? 10), options }
    compare({ ...asked, within: within === undefined ? undefined : Number(within) })
  }
}

function option(name: string): string | undefined {
  return words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
}

function runMany(wanted: readonly string[], options: readonly string[]): void {
  const unknown = wanted.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    console.error(`no benchmark ${unknown.join(', ')}; there are: ${names.join(', ')}`)
    process.exit(2)
  }
  const failed = wanted.filter((name) => {
    const { status } = spawnSync(process.execPath, [import.meta.filename, '--one', name, ...options], {
      stdio: 'inherit',
    })
    return status !== 0
  })
  if (failed.length > 0) console.log(`\nbelow a bound: ${failed.join(', ')}`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

async function runOne(name: string): Promise<void> {
  const bench = (await import(`./${name}.ts`)) as Bench
  console.log(`\n${name}: ${bench.about}`)
  const figures = await bench.run()
  for (const figure of figures) console.log(`  ${line(figure)}`)
  process.exit(figures.every(holds) ? 0 : 1)
}

function line(figure: Figure): string {
  const { what, value, unit, atLeast, atMost } = figure
  const bound = atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : ''
  const verdict = bound === '' ? '' : holds(figure) ? `ok (${bound})` : `BROKEN (${bound})`
  return `${what.padEnd(48)} ${value.toLocaleString('en-US').padStart(12)} ${unit.padEnd(9)} ${verdict}`
}
