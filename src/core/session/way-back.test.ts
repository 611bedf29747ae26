import { expect, test } from 'vitest'
import type { SpanId } from '../../contract/ids.ts'
import type { Queued } from '../messages/message-queue.ts'
import { restartPlan } from './launch.ts'
import type { Managed } from './managed.ts'

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
