import { expect, test } from 'vitest'
import { mapLegacyArgs } from './legacy-args.ts'

test('[SM-45] flags that Claude Code does not know are replaced or dropped, each with a warning', () => {
  const { args, warnings } = mapLegacyArgs(['--verbose', '--bypass-permissions', '--compact', '--plan'])
  expect(args).toEqual(['--verbose', '--permission-mode', 'bypassPermissions', '--permission-mode', 'plan'])
  expect(warnings).toEqual([
    '--bypass-permissions is not a flag of Claude Code and was read as --permission-mode bypassPermissions; write that instead',
    '--compact is not a flag of Claude Code and was dropped; leave it out',
    '--plan is not a flag of Claude Code and was read as --permission-mode plan; write that instead',
  ])
})

test('[SM-45] other arguments pass untouched', () => {
  const args = ['--permission-mode', 'plan', 'constructor', '--planning']
  expect(mapLegacyArgs(args)).toEqual({ args, warnings: [] })
})
