import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { matchesGlob } from '../../core/delegation/matches-glob.ts'
import type { ToolContext } from '../../ports/tools.ts'
import { systemClock } from '../system/clock.ts'
import { systemProcesses } from '../system/processes.ts'
import { agentTools, type ToolSurroundings } from './agent-tools.ts'

const processes = systemProcesses(systemClock)
const secrets = {
  ANTHROPIC_API_KEY: 'sk-1',
  MUSTER_TOKEN: 'mst_1',
  AWS_SECRET_ACCESS_KEY: 'x',
  BASH_ENV: '/x',
}

function bench(more: Partial<ToolContext> = {}, around: Partial<ToolSurroundings> = {}) {
  const env = { ...process.env, ...secrets }
  const b = toolBench(agentTools({ env, processes, matchesGlob, ...around }), more)
  return {
    ...b,
    bash: (command: string, other: Record<string, unknown> = {}, context: Partial<ToolContext> = {}) =>
      b.call('Bash', { command, ...other }, context),
  }
}
type Bench = ReturnType<typeof bench>

/** Those whose command line holds a word that only this test uses. */
async function running(word: string): Promise<readonly number[]> {
  const all = await processes.list(new AbortController().signal)
  return all.filter((one) => one.command.includes(word)).map((one) => one.pid)
}

let count = 0
const rareSleep = () => `sleep 7${process.pid}${(count += 1)}`

/** Every path with what it is, so that any change shows. */
function everything(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isFile() ? readFileSync(path, 'base64') : ''
      return [path, `${lstatSync(path).mode} ${content}`]
    }),
  )
}

describe.each([true, false])('Bash (walls: %s)', (hasWalls) => {
  const started = (more: Partial<ToolContext> = {}, around: Partial<ToolSurroundings> = {}): Bench =>
    bench(more, { hasWalls, ...around })

  test('[RUN-22] a command answers what it said, in order, and its exit code', async () => {
    const b = started()
    expect(await b.bash('echo out; echo err >&2; echo more; exit 3')).toEqual({
      text: 'out\nerr\nmore\n[exit code 3]',
      isError: true,
      exitCode: 3,
    })
    expect(b.output.join('')).toBe('out\nerr\nmore\n')
    expect(await b.bash('pwd', { description: 'where' })).toEqual({
      text: b.workspace,
      isError: false,
      exitCode: 0,
    })
    expect(await b.bash('true')).toEqual({ text: '[no output]', isError: false, exitCode: 0 })
    expect(await b.bash('kill -TERM $$')).toMatchObject({ exitCode: 143, isError: true })
    expect(await b.bash('if then')).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining('syntax error'),
    })
    expect(
      await b.bash("cat > ä.txt <<'E'\n$HOME `x`\nE\ncat ä.txt; cat; read x || echo closed"),
    ).toMatchObject({
      text: '$HOME `x`\nclosed',
    })
    expect(b.text('ä.txt')).toBe('$HOME `x`\n')
  })

  test('[MUS-254] it gets little of the environment, and no key or token', async () => {
    const b = started({}, { given: { GIVEN: 'yes' } })
    const { text } = await b.bash('env')
    for (const name of Object.keys(secrets)) expect(text).not.toContain(name)
    expect(text).toMatch(/^GIVEN=yes$/m)
    expect(text).toMatch(/^PATH=/m)
    const names = text.split('\n').map((line) => line.split('=')[0])
    expect(names).toContain('TMPDIR')
    expect(names.length).toBeLessThan(40)
  })

  test('[MUS-254] of 100 MB of output the beginning and the end are kept, and memory stays bounded', async () => {
    const b = started()
    const before = process.memoryUsage().rss
    let streamed = 0
    const onOutput = (text: string) => {
      streamed += text.length
    }
    const command = "echo first; head -c 100000000 /dev/zero | tr '\\0' 'é' | tr -c '\\n' x; echo; echo last"
    const { text, isTruncated } = await b.bash(command, {}, { onOutput })
    expect(isTruncated).toBe(true)
    expect(text.length).toBeLessThan(30_100)
    expect(text).toMatch(/^first\nx+\n\[… \d+ characters left out …\]\nx+\nlast$/)
    expect(streamed).toBeGreaterThanOrEqual(100_000_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20)
  })

  test('[MUS-254] a command that ignores its end is ended after its timeout, with what it said', async () => {
    const b = started()
    const rare = rareSleep()
    const outcome = await b.bash(`trap '' TERM; echo begun; while :; do ${rare}; done`, { timeout: 300 })
    expect(outcome).toMatchObject({ isError: true, text: 'begun\n[ended: it took longer than its timeout]' })
    expect(await running(rare)).toEqual([])
  })

  test('[RUN-19] a cancelled call ends a tree of three levels, also those that left the group', async () => {
    const b = started()
    const rare = rareSleep()
    b.put(
      'bomb.sh',
      `n=$1; if [ $n = 0 ]; then exec ${rare}; fi; for i in 1 2 3; do setsid bash bomb.sh $((n-1)) & done; trap '' TERM; wait; wait\n`,
    )
    const stop = new AbortController()
    const waiting = b.bash('bash bomb.sh 3', {}, { signal: stop.signal })
    await vi.waitFor(async () => expect((await running(rare)).length).toBe(27), {
      timeout: 40_000,
      interval: 100,
    })
    stop.abort()
    expect(await waiting).toMatchObject({
      isError: true,
      text: expect.stringContaining('the call was cancelled'),
    })
    expect(await running(rare)).toEqual([])
    expect(await running('bomb.sh')).toEqual([])
  })

  test('[MUS-254] what runs in the background ends with the command', async () => {
    const b = started()
    const rare = rareSleep()
    // Without walls one that forgets its mark and its parent at once is not found.
    const lost = hasWalls ? `(env -i setsid ${rare} > /dev/null 2>&1 &);` : ''
    const command = `${lost} ${rare} & (setsid ${rare} > /dev/null 2>&1 &) ; nohup ${rare} > /dev/null 2>&1 & echo done`
    expect(await b.bash(command)).toMatchObject({ text: 'done', exitCode: 0 })
    expect(await running(rare)).toEqual([])
  })

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
    'echo x > .git/hooks/pre-commit; git commit -qam changed',
    'touch -r src/lib.ts README.md; echo chan > README.md; touch -r src/lib.ts README.md',
    'rm link; ln -s nowhere link',
    '(sleep 0.2; echo late > late) & echo now > now',
  ]
  function project(more: Partial<ToolContext>) {
    const b = started(more)
    b.put('README.md', 'read\n')
    b.put('src/lib.ts', 'lib\n')
    b.put('ignored/old', 'old')
    b.put('.gitignore', 'ignored\n')
    symlinkSync('README.md', join(b.workspace, 'link'))
    chmodSync(join(b.workspace, 'README.md'), 0o640)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: b.workspace })
    git('init', '-q')
    git('config', 'user.name', 't')
    git('config', 'user.email', 't@t')
    git('add', '.')
    git('commit', '-qm', 'first')
    return b
  }

  test.each(attempts)('[MUS-254] where nothing may change, nothing does: %s', async (command) => {
    const b = project({ mayChange: false })
    const before = everything(b.workspace)
    const outcome = await b.bash(command)
    expect(everything(b.workspace)).toEqual(before)
    expect(outcome.isError || hasWalls).toBe(true)
    expect(outcome.text).toMatch(
      hasWalls ? /Read-only|busy|failed|^now$/i : /^scope_violation: .* were undone:\n- /,
    )
    expect(outcome.changes ?? []).toEqual([])
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

  test('[MUS-254] nothing of a call is left in the folder for temporary files', async () => {
    const b = project({ writable: [['src/*.ts']] })
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('muster-bash-'))
    await b.bash('echo x > $TMPDIR/x; echo y > src/y')
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('muster-bash-'))
    expect(after.filter((name) => !before.includes(name))).toEqual([])
  })

  test('[MUS-254] input that does not fit is refused before anything runs', async () => {
    const b = started()
    for (const more of [{ timeout: 600_001 }, { run_in_background: true }, { timeout: 'soon' }])
      expect(await b.bash('echo ran > ran', more)).toMatchObject({ isError: true })
    const stop = new AbortController()
    stop.abort()
    expect(await b.bash('echo ran > ran', {}, { signal: stop.signal })).toMatchObject({ isError: true })
    expect(await b.bash('é'.repeat(90_000))).toMatchObject({
      isError: true,
      text: expect.stringContaining('too long'),
    })
    expect(existsSync(join(b.workspace, 'ran'))).toBe(false)
  })
})

describe('behind walls', () => {
  test('[MUS-254] nothing outside of the project is changed, hidden folders are empty, /tmp is private', async () => {
    const hidden = tempFolder('mhide-')
    writeFileSync(join(hidden, 'operator.token'), 'mop_1')
    const b = bench({}, { hidden: [hidden] })
    await b.bash('cd .. && echo x > y')
    expect(readdirSync(b.outer)).toEqual(['work'])
    expect((await b.bash(`cat ${hidden}/operator.token; ls -A ${hidden}`)).text).not.toContain('mop_')
    expect((await b.bash('touch /etc/x /usr/x ~/x; ls /proc | grep -c "^[0-9]"')).text).toMatch(
      /Read-only[^]*\n\d$/,
    )
    await b.bash('echo secret > /tmp/left')
    expect(existsSync('/tmp/left')).toBe(false)
    const also = tempFolder('malso-')
    const more = { alsoWritable: [also, b.outer, tmpdir(), '/nonexistent'], hidden: [hidden] }
    const reader = bench({ mayChange: false, workspace: b.workspace }, more)
    expect(await reader.bash(`echo x > ${also}/cache && echo y > ../beside`)).toMatchObject({
      isError: false,
    })
    expect((await reader.bash('echo z > inside')).text).toContain('Read-only')
    expect((await reader.bash(`ls -A ${hidden}`)).text).toBe('[no output]')
    expect(readdirSync(b.outer).sort()).toEqual(['beside', 'work'])
  })

  test('[MUS-254] where the system permits no walls, copies guard the files', async () => {
    const bin = tempFolder('mbin-')
    writeFileSync(
      join(bin, 'bwrap'),
      '#!/bin/sh\necho No permissions to create new namespace >&2\nexit 1\n',
      { mode: 0o755 },
    )
    const b = bench({ mayChange: false }, { env: { PATH: `${bin}:${process.env['PATH']}` } })
    b.put('a', 'a')
    expect((await b.bash('echo b > a')).text).toContain('scope_violation')
    expect(b.text('a')).toBe('a')
  })
})

describe('guarded by copies', () => {
  test('[MUS-254] a project that is too large to copy is refused, and nothing runs', async () => {
    const b = bench({ mayChange: false }, { hasWalls: false })
    truncateSync(b.put('huge'), 2 ** 31)
    expect((await b.bash('echo x > ran')).text).toContain('install bubblewrap')
    expect(existsSync(join(b.workspace, 'ran'))).toBe(false)
  })

  test('[MUS-254] what another tool writes meanwhile is not undone', async () => {
    const b = bench({}, { hasWalls: false })
    b.put('a', 'a')
    const guarded = b.bash('sleep 0.5; echo x > b', {}, { mayChange: false })
    const written = b.call('Write', { file_path: 'mine', content: 'mine' })
    const other = b.bash('echo other > other')
    expect((await guarded).text).toContain('- created b')
    expect([(await written).isError, (await other).isError]).toEqual([false, false])
    expect([b.text('mine'), b.text('other')]).toEqual(['mine', 'other\n'])
  })

  test('[MUS-254] a cancelled command is undone too', async () => {
    const b = bench({ mayChange: false }, { hasWalls: false })
    const stop = new AbortController()
    const onOutput = () => stop.abort()
    const outcome = await b.bash('echo x > made; echo ready; sleep 60', {}, { signal: stop.signal, onOutput })
    expect(outcome.text).toMatch(/^scope_violation[^]*- created made[^]*cancelled/)
    expect(existsSync(join(b.workspace, 'made'))).toBe(false)
  })
})

test('[RUN-22] every tool has the name and the parameters of Claude Code, told to models as JSON Schema', () => {
  const tools = agentTools({ env: {}, processes, matchesGlob })
  const told = tools.map((tool) => {
    const schema = z.toJSONSchema(tool.input, { io: 'input' })
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
    for (const property of Object.values(schema.properties ?? {}))
      expect(property).toHaveProperty('description')
    return [tool.name, Object.keys(schema.properties ?? {}), schema.required]
  })
  expect(told).toEqual([
    ['Read', ['file_path', 'offset', 'limit'], ['file_path']],
    ['Write', ['file_path', 'content'], ['file_path', 'content']],
    [
      'Edit',
      ['file_path', 'old_string', 'new_string', 'replace_all'],
      ['file_path', 'old_string', 'new_string'],
    ],
    ['Glob', ['pattern', 'path'], ['pattern']],
    [
      'Grep',
      ['pattern', 'path', 'glob', 'output_mode', '-i', '-n', '-A', '-B', '-C', 'head_limit', 'multiline'],
      ['pattern'],
    ],
    ['Bash', ['command', 'timeout', 'description'], ['command']],
  ])
})
