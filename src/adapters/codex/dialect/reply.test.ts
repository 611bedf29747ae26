import { expect, test } from 'vitest'
import type { Dialog } from '../../../contract/signal.ts'
import { codexDialect } from './dialect.ts'

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
