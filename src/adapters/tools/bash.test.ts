import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { bashBench, bashProject, rareSleep, running, secrets } from '../../../test/support/bash-bench.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import type { ToolContext } from '../../ports/tools.ts'
import type { ToolSurroundings } from './agent-tools.ts'

describe.each([true, false])('Bash (walls: %s)', (hasWalls) => {
  const started = (more: Partial<ToolContext> = {}, around: Partial<ToolSurroundings> = {}) =>
    bashBench(more, { hasWalls, ...around })

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
      timeout: 120_000,
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

  test('[MUS-254] nothing of a call is left in the folder for temporary files', async () => {
    const b = bashProject({ writable: [['src/*.ts']] }, { hasWalls })
    const temporary = tempFolder()
    vi.stubEnv('TMPDIR', temporary)
    await b.bash('echo x > $TMPDIR/x; echo y > src/y')
    vi.unstubAllEnvs()
    expect(readdirSync(temporary)).toEqual([])
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
    const b = bashBench({}, { hidden: [hidden] })
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
    const reader = bashBench({ mayChange: false, workspace: b.workspace }, more)
    expect(await reader.bash(`echo x > ${also}/cache && echo y > ../beside`)).toMatchObject({
      isError: false,
    })
    expect(await reader.bash('echo z > inside && cat inside')).toMatchObject({ text: 'z' })
    expect((await reader.bash(`ls -A ${hidden}`)).text).toBe('[no output]')
    expect(readdirSync(b.outer).sort()).toEqual(['beside', 'work'])
  })

  test('[MUS-298] no setting of the kernel opens for writing, for root neither', async () => {
    const b = bashBench()
    const tries = ['kernel/core_pattern', 'kernel/hostname', 'kernel/modprobe', 'vm/drop_caches']
    for (const name of tries)
      expect((await b.bash(`: >> /proc/sys/${name} && echo opened`)).text, name).not.toContain('opened\n')
    expect((await b.bash(': >> /proc/sys/kernel/core_pattern')).isError).toBe(true)
  })

  test('[MUS-254] where the system permits no walls, copies guard the files', async () => {
    const bin = tempFolder('mbin-')
    writeFileSync(
      join(bin, 'bwrap'),
      '#!/bin/sh\necho No permissions to create new namespace >&2\nexit 1\n',
      { mode: 0o755 },
    )
    const b = bashBench({ writable: [['src/**']] }, { env: { PATH: `${bin}:${process.env['PATH']}` } })
    b.put('a', 'a')
    expect((await b.bash('echo b > a')).text).toContain('scope_violation')
    expect(b.text('a')).toBe('a')
  })
})
