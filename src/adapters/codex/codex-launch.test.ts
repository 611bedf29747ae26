import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { codexHooks, codexPlan, toml } from './codex-launch.ts'

const plan = (fields: Parameters<typeof launchRequest>[1] = {}) => codexPlan(launchRequest('/tmp/f', fields))
const setting = (argv: readonly string[], key: string) => argv.find((word) => word.startsWith(`${key}=`))

test('[SM-44] nothing is written anywhere: the login folder stays the user’s own', () => {
  const { files, env, argv } = plan({ role: { text: 'be kind' } })
  expect([files, env]).toEqual([[], {}])
  expect(setting(argv, 'features.daemon_auto_start')).toBe('features.daemon_auto_start=false')
  expect(setting(argv, 'developer_instructions')).toMatch(/^developer_instructions="be kind\\n\\n.*`sm`/)
})

test.for([
  ['manual', ['--sandbox', 'read-only', '--ask-for-approval', 'on-request']],
  ['acceptEdits', ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request']],
  ['plan', ['--sandbox', 'read-only', '--ask-for-approval', 'never']],
  ['bypass', ['--dangerously-bypass-approvals-and-sandbox']],
] as const)('[MUS-146] the mode %s is the nearest that Codex has', ([permissionMode, words]) => {
  const { argv } = plan({ permissionMode })
  expect(argv.join(' ')).toContain(words.join(' '))
})

test('[MUS-207] the prompt is the last argument, as it is, behind everything that is an option', () => {
  const { argv, isPromptGiven } = plan({ prompt: '--help me', args: ['--search'], model: 'm' })
  expect(argv.slice(-5)).toEqual(['--model', 'm', '--search', '--', '--help me'])
  expect(isPromptGiven).toBe(true)
})

test('[SM-43] a prompt that no argument can hold is left to be typed', () => {
  expect(plan({ prompt: 'x'.repeat(200_000) }).isPromptGiven).toBe(false)
  expect(plan().argv.at(-1)).not.toBe('--')
})

test('[MUS-135] a conversation is gone on with by its id', () => {
  const { argv, foreignId } = plan({ resume: true, foreignId: 'id-1', prompt: 'more' })
  expect(argv[1]).toBe('resume')
  expect(argv.slice(-3)).toEqual(['--', 'id-1', 'more'])
  expect(foreignId).toBe('id-1')
})

test('[MUS-209] a role with tools makes the hook before a tool one that decides, and takes away what no hook sees', () => {
  const gated = plan({ role: { text: '', tools: ['Read'] } }).argv
  expect(setting(gated, 'hooks')).toContain('/opt/sm hook PreToolUse || { test $? -eq 2 ||')
  expect(setting(gated, 'web_search')).toBe('web_search="disabled"')
  expect(setting(plan().argv, 'hooks')).toContain('/opt/sm hook PreToolUse || :')
  expect(setting(plan().argv, 'web_search')).toBeUndefined()
  expect(setting(plan({ role: { text: '', tools: ['WebSearch'] } }).argv, 'web_search')).toBeUndefined()
})

test('[SM-2] each hook comes with the fingerprint by which Codex trusts it and nothing else', () => {
  const { state, ...groups } = codexHooks(['/opt/my sm', 'hook'], false) as Record<string, object>
  const known = { async: false, command: "'/opt/my sm' hook SessionEnd || :", timeout: 3, type: 'command' }
  const digest = createHash('sha256')
    .update(JSON.stringify({ event_name: 'session_end', hooks: [known] }))
    .digest('hex')
  expect(state).toMatchObject({
    '/<session-flags>/config.toml:session_end:0:0': { trusted_hash: `sha256:${digest}` },
  })
  expect(Object.keys(state ?? {}).length).toBe(Object.keys(groups).length)
})

test('[SM-2] the fingerprint is the one that Codex 0.166.0 computed for the same hook', () => {
  const command = 'node /tmp/ocx/hook.mjs codex PreToolUse'
  const identity = {
    event_name: 'pre_tool_use',
    hooks: [{ async: false, command, timeout: 60, type: 'command' }],
  }
  expect(createHash('sha256').update(JSON.stringify(identity)).digest('hex')).toBe(
    '63f69e78a30bcd806f14cdd0a83f8513dba3ce4d4e7d8620e73a4c7be95ec57b',
  )
})

test('[MUS-207] values are TOML that cannot end early', () => {
  expect(toml('a "b"\n\\ \u007f ü')).toBe(String.raw`"a \"b\"\n\\ \u007f ü"`)
  expect(toml('\ud800')).toBe('"\ufffd"')
  expect(toml({ a: [1, true, { 'b.c': 'x' }] })).toBe('{"a"=[1,true,{"b.c"="x"}]}')
})
