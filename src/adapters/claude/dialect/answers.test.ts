import { describe, expect, test } from 'vitest'
import { claudeHook, claudeVersions } from '../../../../test/support/claude-golden.ts'
import type { Decision } from '../../../contract/decision.ts'
import { decisionReply, gateReply, injectReply, nothing } from './answers.ts'

const allow = (scope: 'once' | 'session' | 'always', answers?: Record<string, string>): Decision => ({
  verdict: 'allow',
  scope,
  ...(answers && { answers }),
})
const decided = (payload: unknown, decision: Decision): unknown => {
  const reply = decisionReply(payload, decision)
  expect(reply?.exitCode).toBe(0)
  const body = JSON.parse(reply?.body ?? '') as {
    hookSpecificOutput: { hookEventName: string; decision: unknown }
  }
  expect(body.hookSpecificOutput.hookEventName).toBe('PermissionRequest')
  return body.hookSpecificOutput.decision
}

describe.each(claudeVersions)('answers to %s', (version) => {
  const hook = (name: string) => claudeHook(name, version)

  test('[MUS-187] once allows this call alone', () => {
    expect(decided(hook('PermissionRequest.Bash.rules'), allow('once'))).toEqual({ behavior: 'allow' })
  })

  test('[MUS-187] for the session and always keep what the CLI itself proposes', () => {
    const rule = {
      type: 'addRules',
      behavior: 'allow',
      rules: [{ toolName: 'Bash', ruleContent: 'npm run *' }],
    }
    const payload = hook('PermissionRequest.Bash.rules')
    expect(decided(payload, allow('session'))).toEqual({
      behavior: 'allow',
      updatedPermissions: [{ ...rule, destination: 'session' }],
    })
    expect(decided(payload, allow('always'))).toEqual({
      behavior: 'allow',
      updatedPermissions: [{ ...rule, destination: 'localSettings' }],
    })
  })

  test('[MUS-187] another mode is taken only where nothing narrower is proposed', () => {
    const acceptEdits = { type: 'setMode', mode: 'acceptEdits', destination: 'session' }
    expect(decided(hook('PermissionRequest.Bash'), allow('session'))).toEqual({
      behavior: 'allow',
      updatedPermissions: [
        { type: 'addDirectories', directories: ['/work/project'], destination: 'session' },
      ],
    })
    expect(decided(hook('PermissionRequest.Write'), allow('always'))).toEqual({
      behavior: 'allow',
      updatedPermissions: [acceptEdits],
    })
  })

  test('[MUS-187] a denial carries its reason and may end the turn', () => {
    const payload = hook('PermissionRequest.Bash')
    expect(decided(payload, { verdict: 'deny', reason: 'not now' })).toEqual({
      behavior: 'deny',
      message: 'not now',
    })
    expect(decided(payload, { verdict: 'deny', isInterrupt: true })).toEqual({
      behavior: 'deny',
      message: 'denied',
      interrupt: true,
    })
  })

  test('[SM-96] a question is answered with its own input given back', () => {
    const payload = hook('PermissionRequest.AskUserQuestion')
    const answered = {
      behavior: 'allow',
      updatedInput: { ...(payload['tool_input'] as object), answers: { 'Which colour?': 'Blue' } },
    }
    for (const answers of [{ 'Which colour?': 'Blue' }, { Colour: 'Blue' }, { anything: 'Blue' }])
      expect(decided(payload, allow('once', answers))).toEqual(answered)
  })

  test('[SM-96] a question without all its answers is left to its dialog', () => {
    const payload = hook('PermissionRequest.AskUserQuestion')
    expect(decisionReply(payload, allow('once'))).toBeUndefined()
    const [first] = (payload['tool_input'] as { questions: object[] }).questions
    const two = {
      ...payload,
      tool_input: { questions: [first, { ...first, question: 'And then?', header: 'Then' }] },
    }
    expect(decisionReply(two, allow('once', { 'Which colour?': 'Red' }))).toBeUndefined()
    expect(decided(two, allow('once', { 'Which colour?': 'Red', Then: 'Blue, Red' }))).toMatchObject({
      updatedInput: { answers: { 'Which colour?': 'Red', 'And then?': 'Blue, Red' } },
    })
  })

  test('[MUS-187] a plan is approved with its own input, and for the session without asking for each edit', () => {
    const payload = hook('PermissionRequest.ExitPlanMode')
    const updatedInput = payload['tool_input']
    expect(decided(payload, allow('once'))).toEqual({ behavior: 'allow', updatedInput })
    expect(decided(payload, allow('session'))).toMatchObject({
      updatedInput,
      updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits' }],
    })
  })

  test('[MUS-209] a gate denies with a reason, and an allowed tool still asks a person', () => {
    const payload = hook('PreToolUse.Bash')
    expect(gateReply(payload, { allowed: true })).toEqual(nothing)
    expect(JSON.parse(gateReply(payload, { allowed: false, reason: 'not in the role' }).body)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'not in the role',
      },
    })
  })

  test('[SM-94] a message goes into a running turn, but not into a subagent or a prompt that may wait', () => {
    const body = (name: string): unknown => JSON.parse(injectReply(hook(name), 'hello')?.body ?? 'null')
    expect(body('PostToolUse.Bash')).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'hello' },
    })
    expect(body('Stop')).toEqual({ decision: 'block', reason: 'hello' })
    for (const name of [
      'UserPromptSubmit',
      'PostToolUse.Bash@subagent',
      'PreToolUse.Bash',
      'SessionEnd.other',
      'SubagentStop@subagent',
    ])
      expect(injectReply(hook(name), 'hello')).toBeUndefined()
  })
})

test('[MUS-14] what is no permission request has no answer', () => {
  for (const payload of [undefined, null, 'x', {}, { hook_event_name: 'Stop' }]) {
    expect(decisionReply(payload, allow('once'))).toBeUndefined()
    expect(gateReply(payload, { allowed: false, reason: 'no' }).body).toContain('"deny"')
  }
  expect(injectReply('x', 'hello')).toBeUndefined()
})
