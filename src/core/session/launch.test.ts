import { describe, expect, test } from 'vitest'
import { codingCliNames } from '../../contract/agent-clis.ts'
import { Config } from '../../contract/config.ts'
import type { SpawnRequest } from '../../contract/session-views.ts'
import { resolveLaunch } from './launch.ts'

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

  test('[SM-45] words that only look like a mode stay arguments', () => {
    expect(resolved({ args: ['--permission-mode', 'strange', '--model=a b'] })).toMatchObject({
      permissionMode: 'manual',
      args: ['--permission-mode', 'strange', '--model=a b'],
    })
  })
})
