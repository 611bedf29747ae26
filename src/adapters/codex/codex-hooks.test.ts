import { expect, test } from 'vitest'
import type { Dialog } from '../../contract/signal.ts'
import { codexDialect } from './codex-cli.ts'
import { codexHook } from './codex-hooks.ts'

const common = {
  session_id: 'ses-1',
  transcript_path: '/home/dev/.codex/sessions/rollout-1.jsonl',
  cwd: '/home/dev/proj',
  model: 'gpt-5.1-codex',
}
const hook = (hook_event_name: string, fields: object = {}) =>
  codexHook({ ...common, hook_event_name, ...fields }, 7)

test('[SM-68] a session start and a prompt are told as they are', () => {
  expect(hook('SessionStart', { source: 'resume' })).toEqual([
    {
      source: 'hook',
      at: 7,
      kind: 'ready',
      reason: 'resume',
      foreignId: 'ses-1',
      transcript: common.transcript_path,
      model: 'gpt-5.1-codex',
      cwd: '/home/dev/proj',
    },
  ])
  expect(hook('UserPromptSubmit', { prompt: 'go' })).toEqual([
    { source: 'hook', at: 7, kind: 'prompt', origin: 'person', text: 'go' },
  ])
})

test("[SM-118] what happens in a subagent carries its id, though the session id is the parent's", () => {
  const [prompt] = hook('UserPromptSubmit', { prompt: 'do it', agent_id: 'child' })
  expect(prompt).toMatchObject({ agent: 'child', origin: 'task' })
  const [start] = hook('SubagentStart', { agent_id: 'child', agent_type: 'default' })
  expect(start).toEqual({
    source: 'hook',
    at: 7,
    kind: 'subagent-start',
    agentId: 'child',
    agentType: 'default',
    transcript: common.transcript_path,
  })
  const ended = {
    agent_id: 'child',
    agent_type: 'default',
    last_assistant_message: 'found',
    agent_transcript_path: '/x',
  }
  expect(hook('SubagentStop', ended)).toEqual([
    expect.objectContaining({ kind: 'subagent-end', agentId: 'child', text: 'found', transcript: '/x' }),
  ])
})

test('[SM-69] a permission is told at once, as the same call that was told to start', () => {
  const [start] = hook('PreToolUse', { tool_name: 'Bash', tool_use_id: 'c1', tool_input: { command: 'ls' } })
  const [asked] = hook('PermissionRequest', {
    tool_name: 'Bash',
    tool_input: { command: 'ls', description: 'Why?' },
  })
  expect(start).toMatchObject({ kind: 'tool-start', callId: 'c1', tool: 'Bash', input: { command: 'ls' } })
  expect(asked).toMatchObject({
    kind: 'asking',
    ask: 'permission',
    tool: 'Bash',
    input: { command: 'ls' },
    detail: 'Why?',
  })
})

test('[SM-96] a question is told with its choices', () => {
  const questions = [
    { id: 'q', header: 'Colour', question: 'Which?', options: [{ label: 'Red', description: 'warm' }] },
  ]
  const told = hook('PreToolUse', {
    tool_name: 'request_user_input',
    tool_use_id: 'c2',
    tool_input: { questions },
  })
  expect(told[1]).toMatchObject({
    kind: 'asking',
    ask: 'question',
    questions: [
      {
        question: 'Which?',
        header: 'Colour',
        options: [{ label: 'Red', description: 'warm' }],
        isMany: false,
      },
    ],
  })
})

test('[SM-86] whether a command went well is not guessed from a hook that does not tell', () => {
  expect(hook('PostToolUse', { tool_name: 'Bash', tool_use_id: 'c1', tool_response: 'oops' })).toEqual([])
  expect(hook('PostToolUse', { tool_name: 'apply_patch', tool_use_id: 'c3', tool_response: 'ok' })).toEqual([
    expect.objectContaining({ kind: 'tool-end', tool: 'Edit', ok: true }),
  ])
})

test('[SM-67] the ends of a turn and of the session are told apart', () => {
  expect(hook('Stop', { last_assistant_message: 'done' })[0]).toMatchObject({
    kind: 'turn-end',
    text: 'done',
  })
  expect(hook('Interrupt')[0]).toMatchObject({ kind: 'interrupted' })
  expect(hook('SessionEnd', { reason: 'clear' })[0]).toMatchObject({ kind: 'gone', reason: 'clear' })
  expect(hook('PostCompact', { trigger: 'manual' })[0]).toMatchObject({
    kind: 'compacted',
    trigger: 'manual',
  })
})

test('[MUS-14] unknown hooks and payloads of other shapes tell nothing and do not throw', () => {
  for (const payload of [
    undefined,
    null,
    1,
    'x',
    [],
    {},
    { hook_event_name: 'Tomorrow' },
    { hook_event_name: 5 },
  ])
    expect(codexHook(payload, 1)).toEqual([])
  expect(hook('PreToolUse', { tool_name: 'Bash' })).toEqual([])
  expect(hook('PreToolUse', { tool_use_id: {}, tool_name: [] })).toEqual([])
})

const { decision, gate, inject, answerKeys, harmless } = codexDialect
const asked = { hook_event_name: 'PermissionRequest' }

test('[MUS-187] a permission is answered once, and an interrupt is left out because Codex refuses it', () => {
  const body = (reply: ReturnType<typeof decision>) => JSON.parse(reply?.body ?? '{}')
  expect(body(decision(asked, { verdict: 'allow', scope: 'always' })).hookSpecificOutput).toEqual({
    hookEventName: 'PermissionRequest',
    decision: { behavior: 'allow' },
  })
  const denied = body(decision(asked, { verdict: 'deny', reason: 'no', isInterrupt: true }))
  expect(denied.hookSpecificOutput.decision).toEqual({ behavior: 'deny', message: 'no' })
  expect(decision({ hook_event_name: 'PreToolUse' }, { verdict: 'allow', scope: 'once' })).toBeUndefined()
})

test('[MUS-209] a refusal always has a reason, for without one the tool would run', () => {
  const { body, exitCode } = gate({}, { allowed: false, reason: '' })
  expect(exitCode).toBe(0)
  expect(JSON.parse(body).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
  expect(JSON.parse(body).hookSpecificOutput.permissionDecisionReason).not.toBe('')
  expect(gate({}, { allowed: true })).toEqual({ body: '', exitCode: 0 })
})

test('[SM-94] a message goes into a running turn, or makes the agent go on at its end', () => {
  const body = (event: string) => inject({ hook_event_name: event }, 'look here')?.body ?? ''
  expect(JSON.parse(body('PostToolUse')).hookSpecificOutput.additionalContext).toBe('look here')
  expect(JSON.parse(body('Stop'))).toEqual({ decision: 'block', reason: 'look here' })
  expect(body('SessionEnd')).toBe('')
})

const dialog = (kind: Dialog['kind'], options: readonly string[]): Dialog => ({
  kind,
  title: '',
  options,
  selected: 0,
})

test('[MUS-187] keys are found by the words of a choice, wherever it stands', () => {
  const permission = dialog('permission', [
    'Yes, proceed',
    "Yes, and don't ask again for commands that start with `ls`",
    'No, and tell Codex what to do differently',
  ])
  expect(answerKeys?.(permission, { verdict: 'allow', scope: 'once' })).toEqual(['1'])
  expect(answerKeys?.(permission, { verdict: 'allow', scope: 'session' })).toEqual(['1'])
  expect(answerKeys?.(permission, { verdict: 'allow', scope: 'always' })).toEqual(['2'])
  expect(answerKeys?.(permission, { verdict: 'deny' })).toEqual(['3'])
  const trust = dialog('trust', ['Review hooks', 'Trust all and continue', 'Continue without trusting'])
  expect(answerKeys?.(trust, { verdict: 'allow', scope: 'once' })).toBeUndefined()
  expect(answerKeys?.(trust, { verdict: 'allow', scope: 'always' })).toEqual(['2'])
  const question = dialog('question', ['Red', 'Blue'])
  expect(answerKeys?.(question, { verdict: 'allow', scope: 'once', answers: { 'Which?': 'blue' } })).toEqual([
    '2',
  ])
  expect(
    answerKeys?.(question, { verdict: 'allow', scope: 'once', answers: { 'Which?': 'green' } }),
  ).toBeUndefined()
})

test('[SM-43] a message that looks like a command is not one any more', () => {
  for (const text of ['/quit', ' /quit', '!rm x', '@file', '$skill'])
    expect(harmless(text)).toMatch(/^Message: /)
  expect(harmless('please /quit')).toBe('please /quit')
})
