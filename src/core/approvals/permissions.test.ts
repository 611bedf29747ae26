import { describe, expect, test } from 'vitest'
import { defaultConfig } from '../../contract/config.ts'
import type { SignalOf } from '../../contract/signal.ts'
import type { Managed } from '../session/managed.ts'
import { isPermitted, needsNoApproval, permitOf, toolPolicy } from './permissions.ts'

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

const settings = (more: object) => ({ ...defaultConfig.runtime, ...more })
const bash = (command: string) => ({ tool: 'Bash', input: { command } })
const web = (url: string) => ({ tool: 'WebFetch', input: { url } })

test('[MUS-259] without a rule what stays inside is allowed, and what reaches out is asked about', () => {
  const none = settings({})
  expect(toolPolicy(none, bash('rm -rf x')).action).toBe('allow')
  expect(toolPolicy(none, { tool: 'Read', input: { file_path: 'a' } }).action).toBe('allow')
  expect(toolPolicy(none, web('https://example.org/')).action).toBe('ask')
  expect(toolPolicy(none, { tool: 'mcp__db__drop', input: {} }).action).toBe('ask')
})

test('[MUS-259] the first rule that fits decides, by tool and by a glob over command, path or address', () => {
  const rules = settings({
    approvals: [
      { tool: 'Bash', pattern: 'git push*', action: 'deny' },
      { tool: 'Bash', pattern: 'git *', action: 'allow' },
      { tool: 'Write', pattern: 'src/**', action: 'ask' },
      { tool: '*', action: 'deny' },
    ],
  })
  const of = (call: { tool: string; input: unknown }) => toolPolicy(rules, call)
  expect(of(bash('git push --force origin/main'))).toEqual({ action: 'deny', rule: 'runtime.approvals[0]' })
  expect(of(bash('git log -- src/a/b.ts')).action).toBe('allow')
  expect(of(bash('ls'))).toEqual({ action: 'deny', rule: 'runtime.approvals[3]' })
  expect(of({ tool: 'Write', input: { file_path: 'src/deep/a.ts' } }).action).toBe('ask')
  expect(of({ tool: 'Write', input: { file_path: 'docs/a.md' } }).action).toBe('deny')
})

test('[MUS-267] hosts that are named need no question, and closed ones get no rule', () => {
  const hosts = settings({
    approvals: [{ tool: 'WebFetch', action: 'allow' }],
    web: { allow: [], deny: ['*.evil.example'] },
  })
  expect(toolPolicy(hosts, web('https://a.evil.example/x')).rule).toBe('runtime.web.deny')
  expect(toolPolicy(hosts, web('https://fine.example/x')).action).toBe('allow')
  const named = settings({ web: { allow: ['docs.example'], deny: [] } })
  expect(toolPolicy(named, web('https://DOCS.example:8443/a')).action).toBe('allow')
  expect(toolPolicy(named, web('https://docs.example.evil/a')).action).toBe('ask')
  expect(toolPolicy(named, web('https://x@docs.example/a')).action).toBe('ask')
})

const session: Managed = {
  origin: 'managed',
  name: 'developer-1',
  cli: 'claude',
  workingDir: '/w',
  policy: ['Patch'],
  startedAtMs: 0,
}
const flow: Managed = { ...session, origin: 'workflow', name: 'crew-1' }
const askingBash = (command: unknown, tool = 'Bash'): SignalOf<'asking'> => ({
  kind: 'asking',
  source: 'hook',
  at: 0,
  ask: 'permission',
  tool,
  input: { command },
})

test('[COL-14][MUS-209] only a role at the work of a workflow tests without a question, and does nothing else so', () => {
  expect(needsNoApproval(session, flow, askingBash('npm test'))).toBe(true)
  expect(needsNoApproval(session, flow, askingBash('npm test', 'run_shell_command'))).toBe(true)
  for (const command of ['curl http://a', 'npm test && rm -rf /', 'npm test > x', '', undefined])
    expect(needsNoApproval(session, flow, askingBash(command)), String(command)).toBe(false)
  expect(needsNoApproval(session, flow, askingBash('npm test', 'WebFetch'))).toBe(false)
  expect(needsNoApproval(session, session, askingBash('npm test'))).toBe(false)
  expect(needsNoApproval(session, undefined, askingBash('npm test'))).toBe(false)
  const { policy: _policy, ...roleless } = session
  expect(needsNoApproval(roleless, flow, askingBash('npm test'))).toBe(false)
  expect(needsNoApproval(session, flow, { ...askingBash('npm test'), ask: 'question' })).toBe(false)
})
