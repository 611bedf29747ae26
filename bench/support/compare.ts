import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './figure.ts'

type Tree = { readonly name: string; readonly root: string }

type Asked = {
  readonly names: readonly string[]
  /** The commit that this checkout is compared with. */
  readonly against: string
  readonly pairs: number
  /** How many percent the median of a time or a rate may differ; a p99 is of too few to say. */
  readonly within: number | undefined
  readonly options: readonly string[]
}

const here = join(import.meta.dirname, '..', '..')

/**
 * Runs benchmarks in two commits in turn, A B B A …, so that a machine that slows down slows both, and prints the
 * medians of every figure that both of them have. Each commit runs its own benchmarks on its own packages; ends with 1
 * when a median differs more than it may.
 */
export function compare({ names, against, pairs, within, options }: Asked): void {
  const trees = [treeOf(against), { name: 'this checkout', root: here }] as const
  for (const name of names) {
    lend(name, trees[0])
    const figures = new Map<string, [number[], number[]]>()
    const speeds = new Set<string>()
    for (let pair = 0; pair < pairs; pair++) {
      for (const which of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
        for (const { what, value, isSpeed } of measured(trees[which], name, options)) {
          if (isSpeed) speeds.add(what)
          const both = figures.get(what) ?? [[], []]
          both[which].push(value)
          figures.set(what, both)
        }
      process.stderr.write(`${name}: pair ${pair + 1} of ${pairs}\n`)
    }
    console.log(`\n${name}: ${pairs} pairs, medians (${against} → this checkout)`)
    for (const [what, both] of figures) {
      if (both.some(({ length }) => length === 0)) continue
      const [before, now] = [median(both[0]), median(both[1])]
      const isBeyond = within !== undefined && speeds.has(what) && Math.abs(now / before - 1) * 100 > within
      if (isBeyond) process.exitCode = 1
      console.log(`  ${row(what, before, now)}${isBeyond ? `   BEYOND ${within} %` : ''}`)
    }
  }
}

/** A commit that has no such benchmark yet is measured by ours, which asks its daemon as anybody does. */
function lend(name: string, { root }: Tree): void {
  const support = readdirSync(join(here, 'bench', 'support')).map((file) => join('support', file))
  for (const file of [`${name}.ts`, ...support]) {
    const there = join(root, 'bench', file)
    if (!existsSync(there)) copyFileSync(join(here, 'bench', file), there)
  }
}

function row(what: string, before: number, now: number): string {
  const ratio = before === 0 ? '' : `× ${(now / before).toFixed(3)}`
  const figure = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 3 }).padStart(12)
  return `${what.padEnd(48)} ${figure(before)} → ${figure(now)}   ${ratio}`
}

/** A work tree of that commit, built; it is kept for the next comparison. */
export function treeOf(commit: string): Tree {
  const sha = run('git', ['rev-parse', '--short=12', `${commit}^{commit}`], here).trim()
  const root = join(tmpdir(), `muster-bench-${sha}`)
  if (!existsSync(root)) run('git', ['worktree', 'add', '--detach', root, sha], here)
  run('npm', ['run', 'build'], root)
  return { name: commit, root }
}

type Printed = { readonly what: string; readonly value: number; readonly isSpeed: boolean }

/** The figures that a benchmark printed. One that broke its bound ends with 1 and counts all the same. */
function measured({ name: tree, root }: Tree, name: string, options: readonly string[]): Printed[] {
  const node = join(root, 'node_modules', '.bin', 'node')
  const args = [join(root, 'bench', 'run.ts'), '--one', name, ...options]
  const { stdout, stderr } = spawnSync(node, args, { cwd: root, encoding: 'utf8' })
  const found = stdout.split('\n').flatMap((line): Printed[] => {
    const [, what, value, unit = ''] =
      /^ {2}(.*\S) +(-?[\d,.]+)(?: +(\S+))? *(?:(?:ok|BROKEN) .*)?$/.exec(line) ?? []
    if (what === undefined || value === undefined) return []
    const isSpeed = /^ms$|\/s$/.test(unit) && !what.includes('p99')
    return [{ what, value: Number(value.replaceAll(',', '')), isSpeed }]
  })
  if (found.length === 0) throw new Error(`${name} of ${tree} printed no figure\n${stdout}${stderr}`)
  return found
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed in ${cwd}\n${stderr}`)
  return stdout
}
