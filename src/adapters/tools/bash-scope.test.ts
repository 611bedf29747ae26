import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, lstatSync, mkdirSync, readdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bashBench, bashProject, everything } from '../../../test/support/bash-bench.ts'
import { sampled } from '../../../test/support/size.ts'
import type { ToolContext } from '../../ports/tools.ts'

describe.each([true, false])('the scope of Bash (walls: %s)', (hasWalls) => {
  const project = (more: Partial<ToolContext>) => bashProject(more, { hasWalls })

  const attempts = [
    'echo x > new; mkdir -p made/deep; echo y > made/deep/file',
    'echo more >> README.md',
    'sed -i s/read/changed/ README.md; sed -i s/lib/other/ src/lib.ts',
    'rm -rf src; rm README.md',
    'mv README.md moved; mv src elsewhere',
    'chmod 777 README.md src',
    'ln -sf /etc/passwd README.md; rm -rf src; ln -s /etc src',
    'rm README.md; mkdir README.md; echo x > README.md/file',
    'ln README.md other; echo x >> other',
    'echo x > ignored/cache; echo y >> ignored/old',
    'echo x > .git/hooks/pre-commit; echo x > README.md; git commit -qam changed',
    'touch -r src/lib.ts README.md; echo chan > README.md; touch -r src/lib.ts README.md',
    'rm link; ln -s nowhere link',
    '(sleep 0.2; echo late > late) & echo now > now',
  ]
  test.each(sampled(attempts, 5))('[MUS-254] where nothing may change, nothing does: %s', async (command) => {
    const b = project({ mayChange: false })
    const before = everything(b.workspace)
    const outcome = await b.bash(command)
    expect(everything(b.workspace)).toEqual(before)
    expect(outcome).toMatchObject({
      isError: false,
      text: expect.not.stringMatching(/scope_violation|Read-only/),
    })
    expect(outcome.changes ?? []).toEqual([])
    expect(outcome.scopeViolation).toBeUndefined()
  })

  test('[MUS-254] where nothing may change, looking is free', async () => {
    const b = project({ mayChange: false })
    const outcome = await b.bash(
      'git status --short; git log --oneline | wc -l; cat README.md; echo t > $TMPDIR/x && cat $TMPDIR/x',
    )
    expect(outcome).toMatchObject({ text: '1\nread\nt', isError: false })
  })

  test('[MUS-254] inside its scope a command changes files, outside of it nothing', async () => {
    const b = project({ writable: [['src/**', 'docs/new/**']] })
    const before = everything(b.workspace)
    expect(
      await b.bash(
        'echo more >> src/lib.ts; mkdir -p src/a/b; echo x > src/a/b/c; mkdir -p docs/new; echo d > docs/new/d',
      ),
    ).toMatchObject({
      isError: false,
    })
    expect([b.text('src/lib.ts'), b.text('src/a/b/c'), b.text('docs/new/d')]).toEqual([
      'lib\nmore\n',
      'x\n',
      'd\n',
    ])
    const outcome = await b.bash('echo x >> README.md; echo y > src/y; echo z > docs/z')
    expect(outcome.text).toMatch(hasWalls ? /Read-only/ : /^scope_violation/)
    expect(b.text('src/y')).toBe('y\n')
    execFileSync('rm', ['-r', join(b.workspace, 'src'), join(b.workspace, 'docs')])
    b.put('src/lib.ts', 'lib\n')
    expect(everything(b.workspace)).toEqual(before)
  })

  test('[MUS-254] every limit holds: a wide one opens nothing that a narrow one closes', async () => {
    const b = project({ writable: [['**'], ['src/**']] })
    const outcome = await b.bash('echo x >> README.md; echo y > src/y')
    expect(outcome.text).toMatch(/^scope_violation/)
    expect([b.text('README.md'), b.text('src/y')]).toEqual(['read\n', 'y\n'])
  })

  test('[MUS-254] what is moved out of the scope is not lost', async () => {
    const b = project({ writable: [['src/**']] })
    b.put('src/deep/precious', 'only copy')
    await b.bash('mv src/lib.ts gone.ts; mv src elsewhere')
    expect([b.text('src/lib.ts'), b.text('src/deep/precious')]).toEqual(['lib\n', 'only copy'])
    expect(readdirSync(b.workspace).sort()).toEqual([
      '.git',
      '.gitignore',
      'README.md',
      'ignored',
      'link',
      'src',
    ])
  })

  test('[MUS-254] a new hard link opens no way out of the scope', async () => {
    const b = project({ writable: [['src/**']] })
    await b.bash('ln README.md src/same && echo changed > src/same')
    expect(b.text('README.md')).toBe('read\n')
    linkSync(join(b.workspace, 'README.md'), join(b.workspace, 'src', 'old-link'))
    await b.bash('echo changed > src/old-link')
    // Walls stand between names, not between the names of one file.
    expect(b.text('README.md')).toBe(hasWalls ? 'changed\n' : 'read\n')
  })

  test.each([
    ['src/*.ts', 'echo a > src/a.ts; echo b > src/b.md; echo c > README.md', ['src/a.ts']],
    ['**/*.md', 'echo a > src/a.ts; echo b > src/b.md; echo c > top.md', ['src/b.md', 'top.md']],
    ['README.md', 'sed -i s/read/changed/ README.md; echo x > top.md', ['README.md']],
    ['docs/new.md', 'mkdir -p docs; echo x > docs/new.md; echo y > docs/other', ['docs/new.md']],
    ['out/{a,b}/**', 'mkdir -p out/a out/c; echo x > out/a/x; echo y > out/c/y; echo z > out/z', ['out/a/x']],
  ])('[MUS-254] a scope %s is held to the letter', async (glob, command, expected) => {
    const b = project({ writable: [[glob]] })
    const before = everything(b.workspace)
    const outcome = await b.bash(command)
    expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining('scope_violation') })
    expect(outcome.changes?.map((one) => one.path)).toEqual(expected)
    const after = everything(b.workspace)
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((path) => before[path] !== after[path])
      .filter((path) => !existsSync(path) || lstatSync(path).isFile())
      .map((path) => path.slice(b.workspace.length + 1))
    expect(changed.sort()).toEqual(expected)
  })

  test('[MUS-254] a folder that was opened for a scope and stays empty is gone afterwards', async () => {
    const b = project({ writable: [['deep/er/**']] })
    await b.bash('true')
    expect(existsSync(join(b.workspace, 'deep'))).toBe(false)
  })

  test('[MUS-254] a scope that a link leads out of the project opens nothing', async () => {
    const b = project({ writable: [['out/**']] })
    mkdirSync(join(b.outer, 'target'))
    symlinkSync(join(b.outer, 'target'), join(b.workspace, 'out'))
    const { text } = await b.bash('echo x > out/x')
    if (hasWalls) expect(text).toMatch(/Read-only|No such file/)
    expect(existsSync(join(b.outer, 'target', 'x'))).toBe(!hasWalls)
  })
})

describe('guarded by copies', () => {
  test('[MUS-254] a project that is too large to copy is refused, and nothing runs', async () => {
    const b = bashBench({ mayChange: false }, { hasWalls: false })
    truncateSync(b.put('huge'), 2 ** 31)
    expect((await b.bash('echo x > ran')).text).toContain('install bubblewrap')
    expect(existsSync(join(b.workspace, 'ran'))).toBe(false)
  })

  test('[MUS-254] what another tool writes meanwhile is not undone', async () => {
    const b = bashBench({}, { hasWalls: false })
    b.put('a', 'a')
    const guarded = b.bash('sleep 0.5; echo x > b', {}, { writable: [['src/**']] })
    const written = b.call('Write', { file_path: 'mine', content: 'mine' })
    const other = b.bash('echo other > other')
    expect(await guarded).toMatchObject({
      text: expect.stringContaining('- created b'),
      scopeViolation: ['b'],
      changes: [],
    })
    expect([(await written).isError, (await other).isError]).toEqual([false, false])
    expect([b.text('mine'), b.text('other')]).toEqual(['mine', 'other\n'])
  })

  test('[MUS-254] a cancelled command is undone too', async () => {
    const b = bashBench({ writable: [['src/**']] }, { hasWalls: false })
    const stop = new AbortController()
    const onOutput = () => stop.abort()
    const outcome = await b.bash('echo x > made; echo ready; sleep 60', {}, { signal: stop.signal, onOutput })
    expect(outcome.text).toMatch(/^scope_violation[^]*- created made[^]*cancelled/)
    expect(existsSync(join(b.workspace, 'made'))).toBe(false)
  })
})
