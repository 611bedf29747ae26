import { expect, test } from 'vitest'
import { defaultConfig } from '../../contract/config.ts'
import { toolPolicy } from './permissions.ts'

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
