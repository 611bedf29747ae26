import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeHook, claudeNames, claudeVersions } from '../../../test/support/claude-golden.ts'
import type { Decision } from '../../contract/decision.ts'
import type { Signal } from '../../contract/signal.ts'
import { decisionReply, gateReply, hookSignals, injectReply, nothing } from './claude-hooks.ts'

const at = 1_794_770_000_000
const agentOf = { '2.1.197': 'a64ff076990353f06', '2.1.325': 'aebb7dc8d92cf23f0' }

describe.each(claudeVersions)('hooks of %s', (version) => {
  const signals = (name: string): readonly Signal[] => hookSignals(claudeHook(name, version), at)
  const only = (name: string): Signal => {
    const [signal, ...more] = signals(name)
    expect(more).toEqual([])
    expect(signal).toMatchObject({ source: 'hook', at })
    return signal as Signal
  }

  test('[SM-86] every recorded payload gives the signals that it should', () => {
    const found = Object.fromEntries(
      claudeNames('hooks', version).map((name) => [name, signals(name).map(({ kind }) => kind)]),
    )
    expect(found).toEqual({
      'Notification.idle_prompt': ['idle'],
      'Notification.permission_prompt': ['asking'],
      'PermissionRequest.AskUserQuestion': ['asking'],
      'PermissionRequest.Bash': ['asking'],
      'PermissionRequest.Bash.rules': ['asking'],
      'PermissionRequest.Bash@subagent': ['asking'],
      'PermissionRequest.ExitPlanMode': ['asking'],
      'PermissionRequest.Write': ['asking'],
      'PostCompact.manual': ['compacted'],
      PostToolBatch: [],
      'PostToolBatch@subagent': [],
      'PostToolUse.Agent': ['tool-end'],
      'PostToolUse.AskUserQuestion': ['tool-end'],
      'PostToolUse.Bash': ['tool-end'],
      'PostToolUse.Bash@subagent': ['tool-end'],
      'PostToolUseFailure.Bash': ['tool-end'],
      'PostToolUseFailure.Read': ['tool-end'],
      'PreCompact.manual': ['compacting'],
      'PreToolUse.Agent': ['tool-start'],
      'PreToolUse.AskUserQuestion': ['tool-start'],
      'PreToolUse.Bash': ['tool-start'],
      'PreToolUse.Bash@subagent': ['tool-start'],
      'PreToolUse.Read': ['tool-start'],
      'SessionEnd.clear': ['gone'],
      'SessionEnd.other': ['gone'],
      'SessionEnd.prompt_input_exit': ['gone'],
      'SessionStart.clear': ['ready'],
      'SessionStart.compact': ['ready'],
      'SessionStart.startup': ['ready'],
      Stop: ['turn-end'],
      'Stop.background_tasks': ['turn-end'],
      'StopFailure.authentication_failed': ['turn-failed'],
      'StopFailure.rate_limit': ['turn-failed'],
      'StopFailure.unknown': ['turn-failed'],
      // The agent of a compaction: what fails is not the session's turn.
      'StopFailure.unknown@subagent': [],
      'SubagentStart@subagent': ['subagent-start'],
      'SubagentStop@subagent': ['subagent-end'],
      UserPromptSubmit: ['prompt'],
      'UserPromptSubmit.task-notification': ['prompt'],
      statusLine: ['meter'],
    })
  })

  test('[SM-86] a start tells the conversation, its file and its model', () => {
    expect(only('SessionStart.startup')).toMatchObject({
      kind: 'ready',
      reason: 'startup',
      foreignId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      transcript: expect.stringMatching(/\/projects\/-work-project\/[0-9a-f-]{36}\.jsonl$/),
      model: expect.stringMatching(/^claude-/),
      cwd: '/work/project',
    })
    expect(only('SessionStart.clear')).toMatchObject({ reason: 'clear' })
    expect(only('SessionStart.compact')).toMatchObject({ reason: 'compact' })
    expect(only('SessionEnd.clear')).toMatchObject({ kind: 'gone', reason: 'clear' })
  })

  test('[SM-86] a note of the CLI to itself is no prompt of a person', () => {
    expect(only('UserPromptSubmit')).toMatchObject({
      origin: 'person',
      text: expect.stringMatching(/^A SCRIPT/),
    })
    expect(only('UserPromptSubmit.task-notification')).toMatchObject({ origin: 'task' })
  })

  test('[SM-86] a tool call has one id from start to end, and names its subagent', () => {
    const start = only('PreToolUse.Bash')
    expect(start).toMatchObject({ tool: 'Bash', input: { command: 'touch perm.txt && echo made' } })
    expect(start.agent).toBeUndefined()
    expect(only('PostToolUse.Bash')).toMatchObject({
      callId: (start as { callId: string }).callId,
      ok: true,
      output: { stdout: 'made' },
      durationMs: expect.any(Number),
    })
    expect(only('PreToolUse.Bash@subagent').agent).toBe(agentOf[version])
    expect(only('PostToolUseFailure.Bash')).toMatchObject({
      ok: false,
      error: 'Exit code 3\noops',
      isInterrupt: false,
    })
  })

  test('[SM-69] a permission, a question and a plan are told apart', () => {
    expect(only('PermissionRequest.Bash')).toMatchObject({ ask: 'permission', tool: 'Bash' })
    expect(only('PermissionRequest.Bash@subagent')).toMatchObject({ agent: 'a87ef96c54e4d3054' })
    expect(only('PermissionRequest.ExitPlanMode')).toMatchObject({
      ask: 'plan',
      input: { plan: expect.stringContaining('do a') },
    })
    expect(only('PermissionRequest.AskUserQuestion')).toMatchObject({
      ask: 'question',
      questions: [
        {
          question: 'Which colour?',
          header: 'Colour',
          isMany: false,
          options: [
            { label: 'Red', description: 'warm' },
            { label: 'Blue', description: 'cold' },
          ],
        },
      ],
    })
  })

  test('[SM-69] the reminder that follows seconds later names no tool', () => {
    expect(only('Notification.permission_prompt')).toEqual({
      kind: 'asking',
      ask: 'permission',
      detail: 'Claude needs your permission',
      source: 'hook',
      at,
    })
  })

  test('[SM-86] the end of a turn counts what still works in the background', () => {
    expect(only('Stop')).toMatchObject({ text: 'A finished: made', background: 0 })
    expect(only('Stop.background_tasks')).toMatchObject({ background: 1 })
  })

  test('[MUS-134] a used-up allowance is told with the time that the CLI gave', () => {
    expect(only('StopFailure.unknown')).toMatchObject({
      error: 'API Error: 400 scripted bad request',
      status: 400,
    })
    expect(only('StopFailure.unknown')).not.toHaveProperty('limit')
    expect(only('StopFailure.authentication_failed')).toMatchObject({ status: 401 })
    expect(only('StopFailure.rate_limit')).toMatchObject({
      limit: { resetsAtMs: Date.parse('2026-11-18T23:48:00Z') },
    })
  })

  test('[SM-86] a subagent begins and ends; the one of a compaction is none', () => {
    expect(only('SubagentStart@subagent')).toMatchObject({
      agentId: agentOf[version],
      agentType: 'general-purpose',
    })
    const stop = claudeHook('SubagentStop@subagent', version)
    expect(only('SubagentStop@subagent')).toMatchObject({
      text: 'SUBRESULT: from-subagent',
      transcript: expect.stringMatching(/\/subagents\/agent-\w+\.jsonl$/),
    })
    expect(hookSignals({ ...stop, agent_type: '' }, at)).toEqual([])
  })

  test('[MUS-134] the status line is the meter', () => {
    expect(only('statusLine')).toMatchObject({
      kind: 'meter',
      model: expect.stringMatching(/^claude-sonnet/),
      costUsd: expect.any(Number),
      contextPercent: expect.any(Number),
      limits: [
        { name: 'five_hour', usedPercent: 50, resetsAtMs: expect.any(Number) },
        { name: 'seven_day', usedPercent: 31, resetsAtMs: expect.any(Number) },
      ],
    })
    expect(hookSignals({ hook_event_name: 'statusline', ...claudeHook('statusLine', version) }, at)).toEqual(
      signals('statusLine'),
    )
    const [meter] = signals('statusLine')
    const limit = (meter as Extract<Signal, { kind: 'meter' }>).limits?.[0]
    expect(limit?.resetsAtMs).toBeGreaterThan(Date.parse('2026-11-15'))
  })
})

test('[MUS-14] a field of another kind hides none of the others', () => {
  const [signal] = hookSignals(
    { hook_event_name: 'Stop', last_assistant_message: 7, background_tasks: 'x' },
    at,
  )
  expect(signal).toEqual({ kind: 'turn-end', background: 0, source: 'hook', at })
  expect(hookSignals({ hook_event_name: 'PreToolUse', tool_name: 'Bash' }, at)).toEqual([])
  expect(hookSignals({ hook_event_name: 'NewEvent', session_id: 's' }, at)).toEqual([])
})

test('[MUS-14] nothing that is sent can throw', () => {
  const events = ['SessionStart', 'Stop', 'StopFailure', 'PermissionRequest', 'PostToolUse', 'Notification']
  const names = [
    'tool_input',
    'tool_name',
    'tool_use_id',
    'background_tasks',
    'prompt',
    'agent_id',
    'error',
    'rate_limits',
    'model',
    'session_id',
  ]
  const payload = fc.dictionary(fc.constantFrom(...names), fc.jsonValue())
  fc.assert(
    fc.property(fc.constantFrom(...events, undefined), payload, fc.jsonValue(), (event, fields, junk) => {
      for (const sent of [{ ...fields, hook_event_name: event }, fields, junk])
        for (const signal of hookSignals(sent, at)) expect(signal.source).toBe('hook')
    }),
  )
})

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
    expect(decided(payload, allow('once', { 'Which colour?': 'Blue' }))).toEqual(answered)
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
    expect(decided(two, allow('once', { 'Which colour?': 'Red', 'And then?': 'Blue, Red' }))).toMatchObject({
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
