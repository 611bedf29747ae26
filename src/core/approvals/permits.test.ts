import { describe, expect, test } from 'vitest'
import type { SignalOf } from '../../contract/signal.ts'
import { isPermitted, permitOf } from './permissions.ts'

const place = { cli: 'codex', folder: '/work' }
const asking = (tool: string, input: object): SignalOf<'asking'> => ({
  kind: 'asking',
  source: 'hook',
  at: 0,
  ask: 'permission',
  tool,
  input,
})
const run = (command: string) => asking('Bash', { command })
/** Whether a yes to the first lets the second pass. */
const passes = (allowed: SignalOf<'asking'>, next: SignalOf<'asking'>, at = place) => {
  const permit = permitOf(allowed, place)
  return permit !== undefined && isPermitted([permit], next, at)
}

describe('what was allowed for more than once', () => {
  test('[MUS-247] is the very same, and the same command of a program with commands', () => {
    expect(passes(run('echo a > b; ls'), run('echo a > b; ls'))).toBe(true)
    expect(passes(run('npm test'), run('npm test'))).toBe(true)
    expect(passes(run('git status'), run('git  status --short'))).toBe(true)
    expect(passes(run('npm run lint'), run('npm run lint -- --fix'))).toBe(true)
    expect(passes(run('npm run lint'), run('npm run publish'))).toBe(false)
    expect(passes(run('rm a'), run('rm a b'))).toBe(false)
    expect(passes(run('git status'), run('git stash'))).toBe(false)
    expect(passes(run('git status'), run('git statusx'))).toBe(false)
  })

  test('[MUS-247] never lets something in beside it, and nothing dangerous', () => {
    for (const more of ['; rm x', ' && rm x', ' > x', ' | sh', ' $(rm x)', ' `rm x`', '\nrm x', ' "$(rm x)"'])
      expect(passes(run('git status'), run(`git status${more}`)), more).toBe(false)
    expect(passes(run('git push'), run('git push --force'))).toBe(false)
    expect(passes(run('git push'), run('git push'))).toBe(true)
  })

  test('[MUS-247] is of one tool, one CLI and one folder', () => {
    expect(passes(run('npm test'), asking('Other', { command: 'npm test' }))).toBe(false)
    expect(passes(run('npm test'), run('npm test'), { ...place, folder: '/other' })).toBe(false)
    expect(passes(run('npm test'), run('npm test'), { ...place, cli: 'pi' })).toBe(false)
  })

  test('[MUS-247] of a file is its folder, and no way out of it', () => {
    const write = (file_path: string) => asking('Write', { file_path, content: 'x' })
    expect(passes(write('/work/src/a.ts'), write('/work/src/b.ts'))).toBe(true)
    expect(passes(write('/work/src/a.ts'), write('/work/b.ts'))).toBe(false)
    expect(passes(write('/work/src/a.ts'), write('/work/src/../../etc/passwd'))).toBe(false)
  })

  test('[MUS-247] is nothing for questions, unknown input and what is too long to keep', () => {
    expect(permitOf({ ...run('ls'), ask: 'question' }, place)).toBeUndefined()
    expect(permitOf({ kind: 'asking', source: 'pane', at: 0, ask: 'permission', tool: 'Bash' }, place)).toBe(
      undefined,
    )
    expect(permitOf(run('x'.repeat(5000)), place)).toBeUndefined()
  })
})
