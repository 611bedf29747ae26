import { expect, test } from 'vitest'
import { geminiDialect } from './gemini-cli.ts'
import { geminiHook } from './gemini-hooks.ts'

const common = { session_id: 'ses-1', transcript_path: '/x.jsonl', cwd: '/home/dev/proj' }
const hook = (hook_event_name: string, fields: object = {}) =>
  geminiHook({ ...common, hook_event_name, ...fields }, 7)
const shell = { tool_name: 'run_shell_command', tool_input: { command: 'ls', description: 'x' } }

test('[SM-68] a session, a prompt and the end of a turn are told', () => {
  expect(hook('SessionStart', { source: 'startup' })[0]).toMatchObject({
    kind: 'ready',
    reason: 'startup',
    foreignId: 'ses-1',
  })
  expect(hook('BeforeAgent', { prompt: 'go' })[0]).toMatchObject({
    kind: 'prompt',
    origin: 'person',
    text: 'go',
  })
  expect(hook('AfterAgent', { prompt_response: 'done' })[0]).toMatchObject({ kind: 'turn-end', text: 'done' })
})

test('[SM-70] an end without words is left to the transcript, which knows whether it was Escape', () => {
  expect(hook('AfterAgent', { prompt_response: '[no response text]' })).toEqual([])
})

test('[SM-86] a call is the same before and after, without an id from the CLI', () => {
  const [start] = hook('BeforeTool', shell)
  const [end] = hook('AfterTool', { ...shell, tool_response: { llmContent: 'Output: a\nExit Code: 2\nx' } })
  expect(start).toMatchObject({ kind: 'tool-start', tool: 'Bash', input: { command: 'ls' } })
  expect(end).toMatchObject({ kind: 'tool-end', ok: false, error: 'exit code 2' })
  expect(start && 'callId' in start && start.callId).toBe(end && 'callId' in end && end.callId)
  const [other] = hook('BeforeTool', { ...shell, tool_input: { command: 'pwd' } })
  expect(other).not.toMatchObject({ callId: start && 'callId' in start ? start.callId : '' })
})

test('[SM-69] a permission is told with what it is for', () => {
  const asked = (details: object) =>
    hook('Notification', { notification_type: 'ToolPermission', message: 'why', details })
  expect(asked({ type: 'exec', command: 'ls' })).toEqual([
    expect.objectContaining({
      kind: 'asking',
      ask: 'permission',
      tool: 'Bash',
      input: { command: 'ls' },
      detail: 'why',
    }),
  ])
  expect(asked({ type: 'edit', title: 'Confirm Write: a' })[0]).toMatchObject({ tool: 'Write' })
  expect(asked({ type: 'mcp', serverName: 's', toolName: 't' })[0]).toMatchObject({ tool: 'mcp__s__t' })
  expect(asked({ type: 'exit_plan_mode' })[0]).toMatchObject({ ask: 'plan' })
  expect(asked({ type: 'ask_user' })).toEqual([])
})

test('[SM-96] a question is told with its choices', () => {
  const questions = [{ question: 'Which?', options: [{ label: 'Red' }], multiSelect: true }]
  expect(hook('BeforeTool', { tool_name: 'ask_user', tool_input: { questions } })[1]).toMatchObject({
    ask: 'question',
    questions: [{ question: 'Which?', options: [{ label: 'Red' }], isMany: true }],
  })
})

test('[MUS-209] a refusal is one to Gemini too, and a permission cannot be answered by a hook', () => {
  const { gate, decision, inject } = geminiDialect
  expect(JSON.parse(gate({}, { allowed: false, reason: 'no' }).body)).toEqual({
    decision: 'deny',
    reason: 'no',
  })
  expect(decision({ hook_event_name: 'Notification' }, { verdict: 'allow', scope: 'once' })).toBeUndefined()
  expect(JSON.parse(inject({ hook_event_name: 'AfterAgent' }, 'go on')?.body ?? '')).toMatchObject({
    decision: 'block',
  })
  expect(inject({ hook_event_name: 'Notification' }, 'x')).toBeUndefined()
})

test('[MUS-345] Gemini compresses because a person wants it: only that is told, and only that is hooked', () => {
  const compress = (trigger: string) => geminiHook({ hook_event_name: 'PreCompress', trigger }, 9)
  expect(compress('manual')).toEqual([{ kind: 'compacting', source: 'hook', at: 9, trigger: 'manual' }])
  expect(compress('auto')).toEqual([])
})

test('[MUS-14] unknown hooks tell nothing, and what is fired before every turn is no compaction', () => {
  for (const payload of [undefined, 3, [], {}, { hook_event_name: 'PreCompress', trigger: 'auto' }])
    expect(geminiHook(payload, 1)).toEqual([])
})
