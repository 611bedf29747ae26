import { chmodSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { bashProject, everything } from '../../../test/support/bash-bench.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'

/** A PATH on which a program is there and fails. */
function without(program: string): string {
  const bin = tempFolder('mbin-')
  writeFileSync(join(bin, program), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return `${bin}:${process.env['PATH']}`
}

const ways = {
  layer: () => ({}),
  copy: () => ({ env: { ...process.env, PATH: without('unshare') } }),
  undo: () => ({ hasWalls: false }),
}

describe.each(['layer', 'copy', 'undo'] as const)('a command that may change nothing (by %s)', (way) => {
  const project = () => bashProject({ mayChange: false }, ways[way]())

  test('[MUS-254] it works on all that is there, at its place, and what it writes is gone', async () => {
    const b = project()
    b.put('src/lib.ts', 'not committed\n')
    b.put('new.txt', 'not added\n')
    const before = everything(b.workspace)
    const outcome = await b.bash(
      [
        'pwd; cat src/lib.ts new.txt ignored/old; git status --short',
        'mkdir -p node_modules/.cache && echo 1 > node_modules/.cache/x && rm -r ignored && mkdir ignored && ls -A ignored',
        'echo built > dist.js && cat dist.js node_modules/.cache/x; rm README.md; git add -A; git commit -qm all; git log --oneline | wc -l',
      ].join('\n'),
    )
    expect(outcome.text.split('\n')).toEqual([
      b.workspace,
      'not committed',
      'not added',
      'old M src/lib.ts',
      '?? new.txt',
      'built',
      '1',
      '2',
    ])
    expect(outcome).toMatchObject({ isError: false, exitCode: 0 })
    expect(outcome).not.toHaveProperty('scopeViolation')
    expect(outcome.changes ?? []).toEqual([])
    expect(everything(b.workspace)).toEqual(before)
    expect(await b.bash('ls dist.js')).toMatchObject({ exitCode: 2 })
  })

  test('[MUS-254] a real test runner that writes a cache passes', async () => {
    const b = project()
    b.put('package.json', '{"scripts":{"test":"node --test && echo ok > node_modules/.cache-of-test"}}')
    b.put('node_modules/.package-lock.json', '{}')
    b.put('a.test.mjs', "import test from 'node:test'\ntest('passes', () => {})\n")
    const outcome = await b.bash('npm test --silent')
    expect(outcome).toMatchObject({ isError: false, text: expect.stringMatching(/pass 1/) })
    expect(readdirSync(join(b.workspace, 'node_modules'))).toEqual(['.package-lock.json'])
  })

  test('[MUS-254] nothing is left of a cancelled one', async () => {
    const b = project()
    const before = everything(b.workspace)
    const temporary = tempFolder()
    vi.stubEnv('TMPDIR', temporary)
    const stop = new AbortController()
    const outcome = await b.bash(
      'echo x > made; echo ready; sleep 60',
      {},
      { signal: stop.signal, onOutput: () => stop.abort() },
    )
    vi.unstubAllEnvs()
    expect(outcome.text).toMatch(/cancelled/)
    expect(everything(b.workspace)).toEqual(before)
    expect(readdirSync(temporary)).toEqual([])
  })
})

describe('behind walls', () => {
  test('[MUS-254] a project with any name can be layered, and files that others may not read stay so', async () => {
    const b = bashProject({ mayChange: false }, ways.layer())
    const odd = join(b.workspace, 'a,b:c\\d "e"')
    b.put(`a,b:c\\d "e"/file`, 'odd')
    chmodSync(join(odd, 'file'), 0o600)
    const outcome = await b.bash(
      'cat file; echo x >> file; stat -c %a file; id -u; grep -q "^overlay" /proc/mounts && echo layered',
      {},
      { workspace: odd },
    )
    expect(outcome.text).toBe(`odd600\n${process.getuid?.()}\nlayered`)
    expect(b.text(`a,b:c\\d "e"/file`)).toBe('odd')
  })

  test('[MUS-254] where there is neither a layer nor room for a copy, looking is still free', async () => {
    const b = bashProject({ mayChange: false }, ways.copy())
    truncateSync(b.put('huge'), 2 ** 31)
    expect(await b.bash('cat README.md')).toMatchObject({ text: 'read', isError: false })
    expect((await b.bash('echo x > ran')).text).toContain('Read-only')
  })

  test('[MUS-254] a copy keeps links, modes and times', async () => {
    const b = bashProject({ mayChange: false }, ways.copy())
    const look = "find . -mindepth 1 -path ./.git -prune -o -mindepth 1 -exec stat -c '%N %a %Y' {} + | sort"
    const copied = await b.bash(look)
    expect(copied.text).toContain(`'./link' -> 'README.md' 777`)
    expect(copied.text).toBe((await b.bash(look, {}, { mayChange: true })).text)
  })
})
