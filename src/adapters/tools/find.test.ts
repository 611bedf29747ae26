import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { cliPath } from '../../../test/support/clis.ts'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import { findProgram } from '../system/run-program.ts'
import { globTool } from './glob-tool.ts'
import { grepTool } from './grep-tool.ts'

const path = process.env['PATH'] ?? ''
const withoutRipgrep = path
  .split(delimiter)
  .filter((folder) => !existsSync(join(folder, 'rg')))
  .join(delimiter)

/** The system's own, or the one that a coding CLI brings along. */
async function ripgrepFolder(): Promise<string | undefined> {
  const found = await findProgram('rg', path)
  if (found) return dirname(found)
  const codex = cliPath('codex')
  const root = codex?.replace(/\/node_modules\/.*/, '')
  const [vendored] = root ? globSync(`${root}/node_modules/@openai/codex-*/vendor/*/codex-path/rg`) : []
  return vendored && dirname(vendored)
}

const ripgrep = await ripgrepFolder()

const envOf = (programs: string) => ({ PATH: programs, HOME: '/nonexistent' })
const bench = (programs = withoutRipgrep) => {
  const parts = { matchesGlob, env: envOf(programs) }
  return toolBench([globTool(parts), grepTool(parts)])
}
type Bench = ReturnType<typeof bench>

const git = (b: Bench, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    cwd: b.workspace,
    stdio: 'pipe',
  })

/** Files of rising age, the first one the newest. */
function tree(b: Bench, files: Record<string, string | Buffer>) {
  for (const [i, [name, content]] of Object.entries(files).entries()) {
    const file = b.put(name, content)
    utimesSync(file, 1_700_000_000 - i, 1_700_000_000 - i)
  }
  return b
}

describe('Glob', () => {
  const glob = async (b: Bench, pattern: string, path?: string) => {
    const { text, isError } = await b.call('Glob', { pattern, ...(path !== undefined && { path }) })
    return isError ? { refused: text } : text === 'No file matches.' ? [] : text.split('\n')
  }
  const files = { 'src/b.ts': '', 'src/deep/a.ts': '', 'ä ö.md': '', '.github/x.yml': '', 'new\nline.ts': '' }

  test.each([false, true])(
    '[RUN-22] files are found by their names, newest first (git: %s)',
    async (isGit) => {
      const b = tree(bench(), files)
      if (isGit) git(b, 'init', '-q')
      expect(await glob(b, '**/*.ts', 'src')).toEqual(['src/b.ts', 'src/deep/a.ts'])
      expect(await glob(b, 'src/*.ts')).toEqual(['src/b.ts'])
      expect(await glob(b, 'a.ts')).toEqual(['src/deep/a.ts'])
      expect(await glob(b, '*.{md,yml}')).toEqual(['ä ö.md', '.github/x.yml'])
      expect(await glob(b, `${b.workspace}/src/**`)).toEqual(['src/b.ts', 'src/deep/a.ts'])
      expect(await glob(b, '*.none')).toEqual([])
      expect((await b.call('Glob', { pattern: 'new*' })).text).toBe('new\nline.ts')
    },
  )

  test('[MUS-254] what git ignores is left out, unless the folder itself is asked for', async () => {
    const b = tree(bench(), {
      'src/a.ts': '',
      'out/gen.ts': '',
      'node_modules/p/i.ts': '',
      '.gitignore': 'out\nnode_modules\n',
    })
    git(b, 'init', '-q')
    git(b, 'add', '.')
    b.put('gone.ts')
    git(b, 'add', 'gone.ts')
    execFileSync('rm', [join(b.workspace, 'gone.ts')])
    mkdirSync(join(b.workspace, 'inner'))
    execFileSync('git', ['init', '-q'], { cwd: join(b.workspace, 'inner') })
    b.put('inner/i.ts')
    utimesSync(join(b.workspace, 'inner/i.ts'), 1, 1)
    expect(await glob(b, '**/*.ts')).toEqual(['src/a.ts', 'inner/i.ts'])
    expect(await glob(b, '**/*.ts', 'out')).toEqual(['out/gen.ts'])
    expect(await glob(b, '**/*.ts', 'node_modules/p')).toEqual(['node_modules/p/i.ts'])
  })

  test('[MUS-254] a program that the repository names is not run to list files', async () => {
    const b = tree(bench(), { 'a.ts': '' })
    git(b, 'init', '-q')
    git(b, 'config', 'core.fsmonitor', `touch ${b.outer}/ran; false`)
    expect(await glob(b, '*.ts')).toEqual(['a.ts'])
    expect(existsSync(join(b.outer, 'ran'))).toBe(false)
  })

  test.each([false, true])(
    '[MUS-254] no link is followed and nothing outside is listed (git: %s)',
    async (isGit) => {
      const b = tree(bench(), { 'a.ts': '' })
      if (isGit) git(b, 'init', '-q')
      writeFileSync(join(b.outer, 'secret.ts'), '')
      symlinkSync('..', join(b.workspace, 'up'))
      symlinkSync('../secret.ts', join(b.workspace, 's.ts'))
      symlinkSync('.', join(b.workspace, 'round'))
      expect(await glob(b, '**/*.ts')).toEqual(['a.ts'])
      expect(await glob(b, '*.ts', 'up')).toEqual({ refused: expect.stringContaining('inside it') })
      expect(await glob(b, '*.ts', '..')).toEqual({ refused: expect.stringContaining('inside it') })
      expect(await glob(b, '../*.ts')).toEqual({ refused: expect.stringContaining('leaves the folder') })
      expect(await glob(b, '/etc/*')).toEqual({ refused: expect.stringContaining('leaves the folder') })
      expect(await glob(b, '*', 'none')).toEqual({ refused: expect.stringContaining('does not exist') })
    },
  )

  test('[MUS-254] the answer is bounded, and a glob that would take for ever is refused', async () => {
    const b = bench()
    for (let i = 0; i < 300; i++) b.put(`f${i}.ts`)
    const { text, isTruncated } = await b.call('Glob', { pattern: '*.ts' })
    expect([text.split('\n').length, isTruncated]).toEqual([201, true])
    expect(text).toContain('[200 of 300 files')
    b.put('a'.repeat(200))
    expect(await glob(b, `${'*a'.repeat(12)}b`)).toEqual({
      refused: expect.stringContaining('too many stars'),
    })
  })
})

const ways = [
  { by: 'ripgrep', programs: `${ripgrep}${delimiter}${withoutRipgrep}` },
  { by: 'reading', programs: withoutRipgrep },
]

describe.each(ways)('Grep by $by', ({ by, programs }) => {
  beforeEach(({ skip }) => {
    if (by === 'ripgrep' && ripgrep === undefined) skip('install ripgrep, or: npm run clis -- codex')
  })
  const started = (files: Record<string, string | Buffer>) => tree(bench(programs), files)
  const grep = async (b: Bench, pattern: string, more = {}) => {
    const { text, isError } = await b.call('Grep', { pattern, ...more })
    return isError ? { refused: text } : text.split('\n')
  }
  const lines = Array.from({ length: 9 }, (_, i) => `line ${i + 1}`)
  const files = {
    'z.txt': ['line 1', 'TODO: z', 'crlf todo\r', 'end'].join('\n'),
    'src/a.ts': [...lines, 'todo a', ...lines, 'todo b', 'tail'].join('\n'),
    'src/ünï.md': 'grüße todo\n',
    'blob.bin': Buffer.from('todo\nmore\0todo\n'),
  }

  test('[RUN-22] it tells files newest first, counts, or lines in the order of paths', async () => {
    const b = started(files)
    expect(await grep(b, 'todo')).toEqual(['z.txt', 'src/a.ts', 'src/ünï.md'])
    expect(await grep(b, 'todo', { output_mode: 'count' })).toEqual(['src/a.ts:2', 'src/ünï.md:1', 'z.txt:1'])
    expect(await grep(b, 'todo', { output_mode: 'content' })).toEqual([
      'src/a.ts:10:todo a',
      'src/a.ts:20:todo b',
      'src/ünï.md:1:grüße todo',
      'z.txt:3:crlf todo',
    ])
    expect(await grep(b, 'nothing of the kind')).toEqual(['No matches.'])
  })

  test.each([
    ['case', '^todo', { '-i': true }, ['src/a.ts:10:todo a', 'src/a.ts:20:todo b', 'z.txt:2:TODO: z']],
    ['ends of lines', 'todo$', {}, ['src/ünï.md:1:grüße todo', 'z.txt:3:crlf todo']],
    ['a file', 'line [12]$', { path: 'z.txt' }, ['z.txt:1:line 1']],
    ['a folder', 'line 1$', { path: 'src' }, ['src/a.ts:1:line 1', 'src/a.ts:11:line 1']],
    ['a glob', 'todo', { glob: '*.{md,txt}' }, ['src/ünï.md:1:grüße todo', 'z.txt:3:crlf todo']],
    ['other files', 'todo', { glob: '!*.ts' }, ['src/ünï.md:1:grüße todo', 'z.txt:3:crlf todo']],
    ['no numbers', 'TODO', { '-n': false }, ['z.txt:TODO: z']],
    ['lines after', 'TODO', { '-A': 1 }, ['z.txt:2:TODO: z', 'z.txt-3-crlf todo']],
    ['lines before', 'tail', { '-B': 1 }, ['src/a.ts-20-todo b', 'src/a.ts:21:tail']],
    ['unicode', 'gr\\p{L}+e', {}, ['src/ünï.md:1:grüße todo']],
    ['a dash first', '-?-?tail', {}, ['src/a.ts:21:tail']],
    ['one that spans', 'TODO.*?crlf', { multiline: true }, ['z.txt:2:TODO: z', 'z.txt:3:crlf todo']],
    ['one that could span', 'TODO.*crlf', {}, ['No matches.']],
  ])('[MUS-254] %s', async (_name, pattern, more, expected) => {
    const b = started(files)
    expect(await grep(b, pattern, { output_mode: 'content', ...more })).toEqual(expected)
  })

  test('[MUS-254] lines around matches are shown once, with a gap between groups', async () => {
    const b = started(files)
    expect(await grep(b, 'todo a|line 2', { output_mode: 'content', path: 'src', '-C': 1 })).toEqual([
      'src/a.ts-1-line 1',
      'src/a.ts:2:line 2',
      'src/a.ts-3-line 3',
      '--',
      'src/a.ts-9-line 9',
      'src/a.ts:10:todo a',
      'src/a.ts-11-line 1',
      'src/a.ts:12:line 2',
      'src/a.ts-13-line 3',
    ])
  })

  test('[MUS-254] the answer has a bound, and long lines are cut', async () => {
    const b = started({
      many: 'hit\n'.repeat(100_000),
      wide: `${'x'.repeat(3_000_000)}hit\nhit ${'y'.repeat(900)}\n`,
    })
    const some = await grep(b, 'hit', { output_mode: 'content', head_limit: 3 })
    expect(some).toEqual(['many:1:hit', 'many:2:hit', 'many:3:hit', '[there is more; raise head_limit]'])
    const usual = await grep(b, 'hit', { output_mode: 'content' })
    expect(usual).toHaveLength(251)
    const all = await b.call('Grep', { pattern: 'hit', output_mode: 'content', head_limit: 0 })
    expect(all.text.length).toBeLessThan(31_000)
    expect(all.isTruncated).toBe(true)
    expect(await grep(b, 'hit', { output_mode: 'count', path: 'many' })).toEqual(['many:100000'])
    const wide = await grep(b, 'hit', { output_mode: 'content', path: 'wide' })
    expect([wide].flat().at(-1)).toBe(`wide:2:hit ${'y'.repeat(496)}… [cut]`)
  })

  test('[MUS-254] what git ignores and what lies outside is not searched', async () => {
    const b = started({ 'a.ts': 'todo', 'out/b.ts': 'todo', '.gitignore': 'out' })
    git(b, 'init', '-q')
    writeFileSync(join(b.outer, 'secret'), 'todo')
    symlinkSync('../secret', join(b.workspace, 's'))
    symlinkSync('..', join(b.workspace, 'up'))
    expect(await grep(b, 'todo')).toEqual(['a.ts'])
    expect(await grep(b, 'todo', { path: 'out' })).toEqual(['out/b.ts'])
    expect(await grep(b, 'todo', { path: 's' })).toEqual({ refused: expect.stringContaining('inside it') })
    expect(await grep(b, 'todo', { path: 'up' })).toEqual({
      refused: expect.stringContaining('inside it'),
    })
  })

  test('[MUS-254] a pattern that is none is refused with the reason, and a call can be cancelled', async () => {
    const b = started(files)
    expect(await grep(b, 'todo(')).toEqual({
      refused: expect.stringMatching(/cannot be used[^]*(unclosed|Unterminated)/),
    })
    const stop = new AbortController()
    stop.abort()
    expect(await b.call('Grep', { pattern: 'x' }, { signal: stop.signal })).toMatchObject({ isError: true })
  })
})

test('[MUS-254] without ripgrep a pattern that could take forever is refused, by its shape or by the clock', async () => {
  const b = tree(bench(), { a: `${'a'.repeat(5000)}!` })
  expect((await b.call('Grep', { pattern: '(a+)+$' })).text).toContain('could take forever')
  expect((await b.call('Grep', { pattern: 'a*a*a*a*a*a*$b' })).text).toContain('takes too long')
})
