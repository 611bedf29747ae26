import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bashProject } from '../../../test/support/bash-bench.ts'
import { sampled } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import type { ToolContext } from '../../ports/tools.ts'

const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).trim()

describe.each([true, false])('git in a scoped run (walls: %s)', (hasWalls) => {
  const project = (more: Partial<ToolContext> = {}) =>
    bashProject({ writable: [['src/**']], ...more }, { hasWalls })

  test('[MUS-254] a commit works, and only files of the scope change', async () => {
    const b = project()
    const outcome = await b.bash(
      'echo more >> src/lib.ts && git add src && git commit -qm second && git status --short',
    )
    expect(outcome).toMatchObject({ isError: false, text: '[no output]' })
    expect(outcome.changes?.map(({ path }) => path) ?? []).toEqual(hasWalls ? [] : ['src/lib.ts'])
    expect(git(b.workspace, 'log', '--format=%s')).toBe('second\nfirst')
    expect(git(b.workspace, 'show', '--name-only', '--format=')).toBe('src/lib.ts')
    await b.bash('git checkout -q -b other && echo x >> README.md; git tag t; git reset -q --hard HEAD~1')
    expect(git(b.workspace, 'branch', '--show-current')).toBe('other')
    expect(b.text('README.md')).toBe('read\n')
  })

  const traps = [
    'echo "#!/bin/sh" > .git/hooks/pre-commit',
    'git config core.hooksPath /tmp/x',
    'echo "[core]" >> .git/config',
    'mkdir -p src/fake/objects src/fake/refs; echo ../src/fake > .git/commondir',
    'echo x > .git/config.worktree',
    'mv .git/hooks .git/old; mkdir .git/hooks; echo x > .git/hooks/pre-commit',
    'echo x > .git/info/attributes',
  ]
  test.each(sampled(traps, 3))('[MUS-254] what git would run later stays as it is: %s', async (command) => {
    const b = project()
    const settings = () =>
      execFileSync(
        'bash',
        ['-c', 'find config hooks info -type f | sort | xargs sha1sum; ls commondir config.worktree'],
        {
          cwd: join(b.workspace, '.git'),
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        } as const,
      )
    const before = tryTo(settings)
    const outcome = await b.bash(command)
    expect(tryTo(settings)).toEqual(before)
    expect(outcome.isError).toBe(true)
    expect(git(b.workspace, 'status', '--short', '--', 'README.md')).toBe('')
  })

  test('[MUS-254] what was tried is told', async () => {
    const b = project()
    const outcome = await b.bash('echo x > .git/commondir; echo y > src/y')
    expect(outcome).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^scope_violation: .* were undone:\n- created \.git\/commondir/),
      scopeViolation: ['.git/commondir'],
    })
    expect(b.text('src/y')).toBe('y\n')
  })
})

describe('git where all may be changed, behind walls', () => {
  const traps = [
    'echo "#!/bin/sh" > .git/hooks/pre-commit',
    'git config core.fsmonitor ./evil',
    'git config --worktree core.fsmonitor ./evil',
    'echo "[core]" >> .git/config',
    'rm -f .git/config; echo "[core]" > .git/config',
    'mv .git .moved && cp -r .moved .git && echo "[core]" >> .git/config',
    'mv .git/hooks .git/old; mkdir .git/hooks; echo x > .git/hooks/pre-commit',
    'mkdir -p fake/objects fake/refs; echo ../fake > .git/commondir',
    'echo x > .git/config.worktree',
    'echo x >> .git/modules/a/b/config',
    'echo x > .git/modules/a/b/hooks/pre-commit',
  ]
  test.each(sampled(traps, 4))('[MUS-297] what git would run later stays as it is: %s', async (command) => {
    const b = bashProject({}, {})
    for (const name of ['config', 'HEAD', 'hooks/old']) b.put(`.git/modules/a/b/${name}`, '')
    const find = 'find .git -name "config*" -o -name commondir -o -path "*/hooks/*"'
    const settings = () =>
      execFileSync('bash', ['-c', `${find} | sort | xargs sha1sum`], { cwd: b.workspace, encoding: 'utf8' })
    const before = settings()
    expect((await b.bash(command)).isError).toBe(true)
    expect(settings()).toEqual(before)
    expect(existsSync(join(b.workspace, '.moved'))).toBe(false)
  })

  test('[MUS-297] commits, branches, merges and work trees work, from one command to the next', async () => {
    const b = bashProject({}, {})
    const commands = [
      'git checkout -q -b side && echo more >> src/lib.ts && git commit -qam side',
      'git branch other && git worktree add -q tree other',
      'cd tree && echo x > x && git add x && git commit -qm other',
      'git stash list; git tag t; git merge -q --no-edit other; git rebase -q HEAD~1',
      'git worktree list && git worktree remove tree && git branch -D other',
    ]
    for (const command of commands) expect(await b.bash(command), command).toMatchObject({ isError: false })
    expect(git(b.workspace, 'log', '--format=%s').split('\n').sort()).toEqual(['first', 'other', 'side'])
    expect(git(b.workspace, 'worktree', 'list').split('\n').length).toBe(1)
    expect(git(b.workspace, 'branch', '--list', 'other')).toBe('')
  })
})

/** What a command says, also when it fails. */
function tryTo(say: () => string): string {
  try {
    return say()
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

describe('git in a linked work tree, behind walls', () => {
  function linked(more: Partial<ToolContext> = {}) {
    const b = bashProject({}, {})
    const tree = join(b.outer, 'tree')
    git(b.workspace, 'worktree', 'add', '-q', '-b', 'side', tree)
    return { ...b, tree, run: (command: string) => b.bash(command, {}, { workspace: tree, ...more }) }
  }

  test.each([[[]], [[['src/**']]]])('[MUS-254] a commit works with the scope %j', async (writable) => {
    const b = linked({ writable })
    const outcome = await b.run(
      'echo more >> src/lib.ts; git add src; git commit -qm side; git status --short',
    )
    expect(outcome).toMatchObject({ isError: false, text: '[no output]' })
    expect(git(b.workspace, 'log', '--format=%s', 'side')).toBe('side\nfirst')
    expect(git(b.workspace, 'status', '--short')).toBe('')
  })

  test('[MUS-254] neither the main work tree nor settings of the repository change', async () => {
    const b = linked()
    const common = join(b.workspace, '.git')
    const link = readFileSync(join(b.tree, '.git'), 'utf8')
    const outcome = await b.run(
      [
        `echo x > ${common}/hooks/pre-commit; echo x >> ${common}/config; echo x > ${common}/HEAD; echo x > ${common}/index`,
        `echo x > ${b.workspace}/README.md; echo x > ${common}/worktrees/tree/commondir; mkdir ${common}/worktrees/other`,
        `echo x > ${common}/worktrees/tree/config.worktree`,
        `echo "gitdir: ${b.tree}/evil" > .git; rm -f .git`,
      ].join('; '),
    )
    expect(outcome.scopeViolation).toEqual(['../work/.git/worktrees/tree/config.worktree'])
    expect(git(b.workspace, 'status', '--short')).toBe('')
    for (const path of ['hooks/pre-commit', 'worktrees/other', 'worktrees/tree/config.worktree'])
      expect(existsSync(join(common, path))).toBe(false)
    expect(readFileSync(join(common, 'config'), 'utf8')).not.toContain('x\n')
    expect(readFileSync(join(b.tree, '.git'), 'utf8')).toBe(link)
  })

  test('[MUS-254] a link that an agent wrote opens nothing', async () => {
    const b = linked()
    const victim = tempFolder('mvictim-')
    execFileSync('mkdir', ['-p', join(victim, 'worktrees', 'w'), join(victim, 'objects')])
    const tries: readonly [string, string][] = [
      [join(victim, 'worktrees', 'w'), victim],
      [victim, victim],
      [join(b.tree, 'fake', 'worktrees', 'w'), victim],
    ]
    for (const [folder, outside] of tries) {
      rmSync(join(b.tree, '.git'), { force: true })
      writeFileSync(join(b.tree, '.git'), `gitdir: ${folder}\n`)
      execFileSync('mkdir', ['-p', join(b.tree, 'fake', 'worktrees', 'w'), join(b.tree, 'fake', 'objects')])
      writeFileSync(join(b.tree, 'fake', 'worktrees', 'w', 'gitdir'), join(b.tree, '.git'))
      writeFileSync(join(b.tree, 'fake', 'worktrees', 'w', 'commondir'), outside)
      expect((await b.run(`echo x > ${outside}/x`)).text).toMatch(/Read-only|No such/)
      expect(existsSync(join(outside, 'x'))).toBe(false)
    }
  })
})
