import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toolBench } from '../../../test/support/tool-bench.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import type { ToolContext } from '../../ports/tools.ts'
import { editTool } from './edit-tool.ts'
import { holdFolder } from './held-folder.ts'
import { readTool } from './read-tool.ts'
import { workspaceTurns } from './workspace-access.ts'
import { writeTool } from './write-tool.ts'

const parts = { matchesGlob, turns: workspaceTurns() }
const bench = (more: Partial<ToolContext> = {}) =>
  toolBench([readTool, writeTool(parts), editTool(parts)], more)
type Bench = ReturnType<typeof bench>

const read = (b: Bench, file_path: string, more = {}) => b.call('Read', { file_path, ...more })
const write = (b: Bench, file_path: string, content: string) => b.call('Write', { file_path, content })
const edit = (b: Bench, file_path: string, [old_string, new_string]: [string, string], more = {}) =>
  b.call('Edit', { file_path, old_string, new_string, ...more })

describe('paths', () => {
  test('[MUS-254] a path is resolved as the kernel does it, also when its last parts do not exist', async () => {
    const b = bench()
    mkdirSync(join(b.workspace, 'real/deep'), { recursive: true })
    symlinkSync('real/deep', join(b.workspace, 'link'))
    symlinkSync('../outside.txt', join(b.workspace, 'dangling'))
    symlinkSync(b.outer, join(b.workspace, 'up'))
    symlinkSync('loop', join(b.workspace, 'loop'))
    const changed = (file_path: string) => b.changes('Write', { file_path, content: '' })
    expect(await changed('link/new/x.txt')).toEqual(['real/deep/new/x.txt'])
    // The parent of a link is the parent of where it leads.
    expect(await changed('link/../x.txt')).toEqual(['real/x.txt'])
    expect(await changed(join(b.workspace, 'a/./b/../c'))).toEqual(['a/c'])
    expect(await changed('dangling')).toEqual(['../outside.txt'])
    expect(await changed('up/x')).toEqual(['../x'])
    expect(await changed('up/work/x')).toEqual(['x'])
    expect(await changed('/etc/passwd')).toEqual([expect.stringMatching(/^\.\.\/.*etc\/passwd$/)])
    expect(await changed('..x/..y')).toEqual(['..x/..y'])
    expect(await changed('loop/x')).toEqual([])
    expect(await b.changes('Write', { file_path: 7 })).toEqual([])
    expect(await b.changes('Read', { file_path: 'x' })).toEqual([])
    expect(readdirSync(b.workspace).sort()).toEqual(['dangling', 'link', 'loop', 'real', 'up'])
  })

  test.each(['up/secret', '../secret', 'dangling', 'loop/x', 'nul\0x'])(
    '[MUS-254] %j is refused for reading, writing and editing, with what to do',
    async (path) => {
      const b = bench()
      writeFileSync(join(b.outer, 'secret'), 'mop_secret')
      symlinkSync('..', join(b.workspace, 'up'))
      symlinkSync('../new', join(b.workspace, 'dangling'))
      symlinkSync('loop', join(b.workspace, 'loop'))
      b.context.seen.set(join(b.outer, 'secret'), statSync(join(b.outer, 'secret')))
      for (const outcome of [
        await read(b, path),
        await write(b, path, 'x'),
        await edit(b, path, ['mop_secret', 'x']),
      ]) {
        expect(outcome.isError).toBe(true)
        expect(outcome.text).toMatch(/inside it|is a loop of links|no NUL/)
        expect(outcome.text).not.toContain('mop_')
      }
      expect(readdirSync(b.outer).sort()).toEqual(['secret', 'work'])
      expect(readFileSync(join(b.outer, 'secret'), 'utf8')).toBe('mop_secret')
    },
  )

  test.each([true, false])(
    '[MUS-254] a folder that is held stays the same when its path is made to lead elsewhere (by descriptor: %s)',
    async (byDescriptor) => {
      const b = bench()
      mkdirSync(join(b.workspace, 'a/b'), { recursive: true })
      mkdirSync(join(b.outer, 'target/b'), { recursive: true })
      await using folder = await holdFolder(b.workspace, 'a/b', { byDescriptor })
      renameSync(join(b.workspace, 'a'), join(b.workspace, 'moved'))
      symlinkSync(join(b.outer, 'target'), join(b.workspace, 'a'))
      if (byDescriptor) {
        writeFileSync(folder.at('x'), 'here')
        expect(b.text('moved/b/x')).toBe('here')
      }
      await expect(holdFolder(b.workspace, 'a/b', { byDescriptor })).rejects.toThrow()
      await expect(holdFolder(b.workspace, 'a/new', { byDescriptor, create: true })).rejects.toThrow()
      expect(readdirSync(join(b.outer, 'target'), { recursive: true })).toEqual(['b'])
    },
  )

  test('[MUS-254] while a folder is swapped for a link and back, nothing outside is read or written', async () => {
    const b = bench()
    const outside = join(b.outer, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'f'), 'SECRET')
    b.put('d/f', 'mine')
    symlinkSync(outside, join(b.workspace, 'evil'))
    // A write may make the folder anew while it is away; then that one goes.
    const script = `const fs = require('fs'); process.chdir(${JSON.stringify(b.workspace)})
      const move = (from, to) => { try { fs.renameSync(from, to) } catch { fs.rmSync(to, { recursive: true, force: true }); fs.renameSync(from, to) } }
      for (;;) { move('d', 'keep'); move('evil', 'd'); move('d', 'evil'); move('keep', 'd') }`
    const swapper = spawn(process.execPath, ['-e', script], { stdio: 'ignore' })
    onTestFinished(() => void swapper.kill('SIGKILL'))
    const outcomes = { good: 0, refused: 0 }
    // On a machine that is busy elsewhere the two may not meet for a while.
    for (let i = 0; i < 150 || (outcomes.refused === 0 && i < 5000); i++) {
      const seen = await read(b, 'd/f')
      expect(seen.text).not.toContain('SECRET')
      const written = await write(b, 'd/f', `mine ${i}`)
      await write(b, `d/new/${i}`, 'new')
      outcomes[written.isError ? 'refused' : 'good'] += 1
    }
    swapper.kill('SIGKILL')
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('SECRET')
    expect(readdirSync(outside)).toEqual(['f'])
    expect(outcomes.refused).toBeGreaterThan(0)
  })
})

describe('Read', () => {
  test('[RUN-22] lines come with their numbers, from an offset and up to a limit, and the file counts as seen', async () => {
    const b = bench()
    const file = b.put('ä ö/日本.txt', 'one\r\ntwo\n\nfour')
    expect(await read(b, 'ä ö/日本.txt')).toEqual({
      text: '     1\tone\n     2\ttwo\n     3\t\n     4\tfour',
      isError: false,
    })
    expect(b.context.seen.get(file)).toEqual({ mtimeMs: statSync(file).mtimeMs, size: 14 })
    expect(await read(b, file, { offset: 2, limit: 2 })).toEqual({
      text: '     2\ttwo\n     3\t\n[the file continues: read it again with offset 4]',
      isError: false,
      isTruncated: true,
    })
    expect((await read(b, file, { offset: 9 })).text).toContain('only 4 lines')
  })

  test('[MUS-254] what has no lines is named: nothing, folders, empty and binary files, pipes', async () => {
    const b = bench()
    b.put('empty')
    b.put('binary', Buffer.from([1, 2, 0, 3]))
    execFileSync('sh', ['-c', 'mkfifo pipe'], { cwd: b.workspace })
    mkdirSync(join(b.workspace, 'folder'))
    expect(await read(b, 'empty')).toEqual({ text: 'empty exists and is empty.', isError: false })
    for (const [path, said] of [
      ['binary', 'binary file of 4 bytes'],
      ['pipe', 'pipe'],
      ['folder', 'Glob'],
      ['.', 'Glob'],
      ['none/x', 'no such file'],
      ['binary/x', 'not a folder'],
    ] as const) {
      const outcome = await read(b, path)
      expect([path, outcome.isError]).toEqual([path, true])
      expect(outcome.text).toContain(said)
    }
    expect([...b.context.seen.keys()]).toEqual([join(b.workspace, 'empty')])
  })

  test('[MUS-254] a long line is cut between two characters, and many lines give one page', async () => {
    const b = bench()
    b.put('long', `${'x'.repeat(1999)}😀${'y'.repeat(500_000)}\nshort\n`)
    const long = await read(b, 'long')
    expect(long.text).toContain(
      `${'x'.repeat(1999)}… [500004 more bytes of this line left out]\n     2\tshort`,
    )
    b.put('many', 'line\n'.repeat(5000))
    const many = await read(b, 'many')
    expect(many.text.split('\n')).toHaveLength(2001)
    expect(many).toMatchObject({ isTruncated: true, text: expect.stringContaining('offset 2001') })
    b.put('wide', `${'z'.repeat(1000)}\n`.repeat(2000))
    const wide = await read(b, 'wide', { limit: 100_000 })
    expect(Buffer.byteLength(wide.text)).toBeLessThan((256 << 10) + 100)
    expect(wide.text).toContain('offset 261')
  })

  test('[MUS-254] a file of 4 GB costs no memory and can be left at once', async () => {
    const b = bench()
    const fd = openSync(join(b.workspace, 'huge'), 'w')
    writeSync(fd, `${'a line\n'.repeat(100_000)}`)
    ftruncateSync(fd, 4 * 2 ** 30)
    closeSync(fd)
    const before = process.memoryUsage().rss
    expect((await read(b, 'huge', { offset: 3, limit: 1 })).text).toContain('     3\ta line')
    const stop = new AbortController()
    const waiting = b.call('Read', { file_path: 'huge', offset: 90_000, limit: 1 }, { signal: stop.signal })
    stop.abort()
    expect(await waiting).toEqual({ text: 'The call was cancelled.', isError: true })
    const zeros = await read(b, 'huge', { offset: 5_000_000 })
    expect(zeros.text).toContain('binary file')
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20)
  })
})

describe('Write', () => {
  test('[MUS-254] a new file comes with its folders, and the answer counts lines', async () => {
    const b = bench()
    expect(await write(b, 'src/new/a.ts', 'one\ntwo\n')).toEqual({
      text: 'src/new/a.ts was created with 2 lines.',
      isError: false,
      changes: [{ path: 'src/new/a.ts', change: 'created', linesAdded: 2, linesRemoved: 0 }],
    })
    expect(b.text('src/new/a.ts')).toBe('one\ntwo\n')
    expect(await write(b, 'src/new/a.ts', 'one\n2\nthree\n')).toMatchObject({
      changes: [{ path: 'src/new/a.ts', change: 'modified', linesAdded: 2, linesRemoved: 1 }],
    })
    expect(readdirSync(join(b.workspace, 'src/new'))).toEqual(['a.ts'])
  })

  test('[MUS-254] what exists is read before it is replaced, and is as it was read', async () => {
    const b = bench()
    const file = b.put('a', 'theirs')
    expect(await write(b, 'a', 'mine')).toMatchObject({
      isError: true,
      text: expect.stringContaining('Read it first'),
    })
    await read(b, 'a')
    writeFileSync(file, 'newer!')
    utimesSync(file, 1, 1)
    expect(await write(b, 'a', 'mine')).toMatchObject({
      isError: true,
      text: expect.stringContaining('Read it again'),
    })
    expect(b.text('a')).toBe('newer!')
    await read(b, 'a')
    expect(await write(b, 'a', 'mine')).toMatchObject({ isError: false })
    expect(await write(b, 'a', 'mine, again')).toMatchObject({ isError: false })
  })

  test('[MUS-254] a replaced file keeps its mode, and its other names keep their content', async () => {
    const b = bench()
    const file = b.put('run.sh', 'old')
    chmodSync(file, 0o751)
    linkSync(file, join(b.outer, 'other-name'))
    symlinkSync('run.sh', join(b.workspace, 'link'))
    await read(b, 'link')
    expect(await write(b, 'link', 'new')).toMatchObject({ changes: [{ path: 'run.sh' }] })
    expect(statSync(file).mode & 0o777).toBe(0o751)
    expect(readFileSync(join(b.outer, 'other-name'), 'utf8')).toBe('old')
    expect(b.text('link')).toBe('new')
  })

  test('[MUS-254] nothing is left of a write that fails', async () => {
    const b = bench()
    mkdirSync(join(b.workspace, 'folder'))
    expect((await write(b, 'folder', 'x')).text).toContain('is a folder')
    expect((await write(b, 'n'.repeat(300), 'x')).text).toContain('too long')
    b.put('file')
    expect((await write(b, 'file/x', 'x')).text).toContain('not a folder')
    expect(readdirSync(b.workspace).sort()).toEqual(['file', 'folder'])
  })

  test('[MUS-254] the limits hold though a link was put into the path after the gate, and git keeps its own', async () => {
    const b = bench({ writable: [['src/**']] })
    b.put('docs/a', 'x')
    mkdirSync(join(b.workspace, 'src'))
    symlinkSync('../docs', join(b.workspace, 'src/d'))
    expect((await write(b, 'src/d/new', 'x')).text).toContain(
      'docs/new is outside what may be changed (src/**)',
    )
    expect(await write(b, 'src/new', 'x')).toMatchObject({ isError: false })
    expect((await b.call('Write', { file_path: 'src/x', content: '' }, { mayChange: false })).isError).toBe(
      true,
    )
    expect(
      (await b.call('Write', { file_path: '.git/hooks/pre-commit', content: '' }, { writable: [] })).text,
    ).toContain('belongs to git')
    expect(existsSync(join(b.workspace, '.git'))).toBe(false)
  })
})

describe('Edit', () => {
  async function edited(content: string | Buffer, change: [string, string], more = {}) {
    const b = bench()
    const file = b.put('f', content)
    await read(b, 'f')
    const outcome = await edit(b, 'f', change, more)
    return { ...outcome, bytes: readFileSync(file) }
  }

  test('[MUS-254] a text that occurs once is replaced, and nothing else', async () => {
    const { bytes, ...outcome } = await edited('a\nb\nc\n', ['b', 'B\nB'])
    expect(bytes.toString()).toBe('a\nB\nB\nc\n')
    expect(outcome).toEqual({
      text: 'f was changed at line 2: 2 lines added, 1 removed.',
      isError: false,
      changes: [{ path: 'f', change: 'modified', linesAdded: 2, linesRemoved: 1 }],
    })
    expect((await edited('$1 a', ['a', '$& $1'])).bytes.toString()).toBe('$1 $& $1')
  })

  test('[MUS-254] one that occurs more often is refused with its lines, or replaced everywhere', async () => {
    const twice = await edited('x\ny\nx\n', ['x', 'z'])
    expect(twice).toMatchObject({ isError: true, text: expect.stringContaining('2 times (lines 1, 3)') })
    expect(twice.bytes.toString()).toBe('x\ny\nx\n')
    const all = await edited('x\ny\nx\n', ['x', 'z'], { replace_all: true })
    expect(all.bytes.toString()).toBe('z\ny\nz\n')
    expect(all.text).toContain('in 2 places, the first at line 1')
  })

  test('[MUS-254] lines keep their CRLF, and bytes of any encoding stay', async () => {
    expect((await edited('a\r\nb\r\nc\r\n', ['a\nb', 'a\nx\nb'])).bytes.toString()).toBe(
      'a\r\nx\r\nb\r\nc\r\n',
    )
    expect((await edited('a\r\nb\r\n', ['b', 'b\nc'])).bytes.toString()).toBe('a\r\nb\r\nc\r\n')
    expect((await edited('a\nb\nc\r\nd\n', ['c\nd', 'C\nD'])).bytes.toString()).toBe('a\nb\nC\r\nD\n')
    const latin = Buffer.from('gr\xfc\xdfe\nname\n', 'latin1')
    expect((await edited(latin, ['name', 'n'])).bytes).toEqual(Buffer.from('gr\xfc\xdfe\nn\n', 'latin1'))
  })

  test('[MUS-254] a text that is not there names the nearest line', async () => {
    const content = 'import x\n\tconst  total = sum(values)\nend\n'
    const miss = await edited(content, ['const total = sum(value)', 'y'])
    expect(miss).toMatchObject({ isError: true })
    expect(miss.text).toContain('the nearest is line 2: "\\tconst  total = sum(values)"')
    expect((await edited(content, ['     1\timport x', 'y'])).text).toContain('leave out the line numbers')
    expect((await edited(content, ['qqqq', 'y'])).text).toContain('Read it again')
    expect((await edited(content, ['end', 'end'])).text).toContain('are the same')
  })

  test('[MUS-254] a file that was not read, or is not there, is not edited', async () => {
    const b = bench()
    b.put('f', 'a')
    expect((await edit(b, 'f', ['a', 'b'])).text).toContain('Read it first')
    expect((await edit(b, 'none/f', ['a', 'b'])).text).toContain('make it with Write')
    expect(readdirSync(b.workspace)).toEqual(['f'])
  })
})
