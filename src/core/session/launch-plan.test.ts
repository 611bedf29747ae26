import { describe, expect, test } from 'vitest'
import { codingCliNames } from '../../contract/agent-clis.ts'
import { Config } from '../../contract/config.ts'
import type { SpanId } from '../../contract/ids.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import type { Queued } from '../messages/message-queue.ts'
import { resolveLaunch, restartPlan } from './launch-plan.ts'
import type { Managed } from './managed.ts'

const resolved = (request: Partial<SpawnRequest>, config: unknown = {}) =>
  resolveLaunch({ agent_type: 'claude', prompt: '', ...request } as SpawnRequest, {
    config: Config.parse(config),
    agents: [],
    shortId: '1749a2fe',
  })

describe('the permission mode', () => {
  test('[MUS-146] asks in a shared checkout, accepts edits in a work tree, and is what was asked for', () => {
    for (const agent_type of codingCliNames) {
      expect(resolved({ agent_type }).permissionMode).toBe('manual')
      expect(resolved({ agent_type, worktree: 'x' }).permissionMode).toBe('acceptEdits')
      expect(resolved({ agent_type, worktree: 'x', permission_mode: 'plan' }).permissionMode).toBe('plan')
      expect(resolved({ agent_type, permission_mode: 'bypass' }).permissionMode).toBe('bypass')
    }
  })

  test.each([
    ['claude', '--dangerously-skip-permissions'],
    ['claude', '--permission-mode bypassPermissions'],
    ['claude', '--permission-mode=bypassPermissions'],
    ['codex', '--dangerously-bypass-approvals-and-sandbox'],
    ['codex', '--yolo'],
    ['gemini', '--yolo'],
    ['gemini', '-y'],
    ['gemini', '--approval-mode=yolo'],
    ['gemini', '--approval-mode yolo'],
  ])(
    '[MUS-146] by whatever argument %s is told to ask for nothing (%s), it is known as bypass',
    (cli, words) => {
      const args = ['--verbose', ...words.split(' '), 'last']
      expect(resolved({ agent_type: cli, args })).toMatchObject({
        permissionMode: 'bypass',
        args: ['--verbose', 'last'],
      })
      expect(resolved({ agent_type: cli, args, permission_mode: 'manual' }).permissionMode).toBe('manual')
    },
  )

  test('[MUS-146] the arguments of a program of one’s own are left as they are', () => {
    const args = ['--yolo', '--permission-mode', 'plan', '-y']
    expect(resolved({ agent_type: 'mine' }, { clis: { mine: { command: 'mine', args } } })).toMatchObject({
      cli: 'custom',
      permissionMode: 'manual',
      args,
    })
  })

  test('[MUS-338] --cli takes a program of the settings by its name, and refuses a name that nothing has', () => {
    const settings = { clis: { mine: { command: 'my-agent' } }, claude: { agent_configs: { typed: {} } } }
    const own = resolved({ agent_type: 'typed', cli: 'mine' }, settings)
    expect(own).toMatchObject({ cli: 'custom', program: 'my-agent' })
    const byType = { ...settings, claude: { agent_configs: { typed: { cli: 'mine' } } } }
    expect(resolved({ agent_type: 'typed' }, byType)).toMatchObject({ cli: 'custom', program: 'my-agent' })
    const unknown = { ...settings, claude: { agent_configs: { typed: { cli: 'custom' } } } }
    expect(() => resolved({ agent_type: 'typed' }, unknown)).toThrow(/no CLI is called custom/)
    expect(() => resolved({ cli: 'custom' }, settings)).toThrow(
      /no CLI is called custom; there are claude, codex, .*, mine\. .*clis\.custom\.command/,
    )
  })

  test('[SM-45] words that only look like a mode stay arguments', () => {
    expect(resolved({ args: ['--permission-mode', 'strange', '--model=a b'] })).toMatchObject({
      permissionMode: 'manual',
      args: ['--permission-mode', 'strange', '--model=a b'],
    })
  })
})

const managed: Managed = {
  origin: 'managed',
  name: 'eng',
  cli: 'claude',
  workingDir: '/',
  startedAtMs: 0,
  hasPrompt: true,
}
const prompt: Queued = {
  messageId: 'p',
  spanId: '1'.repeat(16) as SpanId,
  mode: 'sequential',
  by: 'launch',
  stage: 'queued',
  queuedAtMs: 0,
  preview: 'Do it',
  vault: 'v1',
}
const known = { ...managed, foreignId: 'f' }

test.each([
  ['its conversation is known and may have run', { managed: known, queue: [] }, true, 'resume'],
  ['its prompt waits, but may have run', { managed: known, queue: [prompt] }, true, 'resume'],
  ['its prompt waits and has certainly not run', { managed: known, queue: [prompt] }, false, 'anew'],
  ['it never had a prompt', { managed: { ...known, hasPrompt: false }, queue: [] }, false, 'anew'],
  ['its prompt was taken and nothing is left of it', { managed: known, queue: [] }, false, 'none'],
  ['nobody knows which conversation is its own', { managed, queue: [prompt] }, true, 'none'],
  ['it is a program of the user’s own', { managed: { ...known, cli: 'custom' }, queue: [] }, true, 'none'],
])('[MUS-135] no prompt is given again unless it surely never ran: %s', (_what, state, mayHaveRun, kind) => {
  expect(restartPlan(state, mayHaveRun).kind).toBe(kind)
})

test('[MUS-135] one that begins anew takes the prompt that waits', () => {
  expect(restartPlan({ managed: known, queue: [prompt] }, false)).toEqual({ kind: 'anew', prompt: 'v1' })
})
