import { expect, test } from 'vitest'
import { compare, type Ended } from './check.ts'
import { Heard } from './heard.ts'
import { isSame, takenFrom } from './told.ts'

const accepted = (text: string, mode: Ended['mode'] = 'sequential'): Ended => ({
  text,
  mode,
  state: 'accepted',
  detail: null,
})
const findings = (sent: readonly Ended[], told: readonly string[]) =>
  compare(sent, takenFrom(told), { drafts: new Set(['draft-1 half a thought']), same: isSame }).faults

// As Claude Code 2.1.325 sends them; what is not of the campaign stands between.
const told = [
  'Begin.',
  '<system-reminder>\nAs you answer the user’s questions, you can use the following context\n</system-reminder>',
  'm1. tab    here',
  'Stop hook feedback:\n/m2. echo hi',
  'Stop hook blocking error from command: "http://127.0.0.1:36383/api/v1/hooks/claude": /m2. echo hi',
  '<system-reminder>\nPostToolUse:Bash hook additional context: #m3. echo hi\n</system-reminder>',
  'The user sent a new message while you were working:\ndraft-1 half a thought\n\nThis is how Claude Code surfaces messages the user sends mid-turn — within the running turn.',
  'Message: /',
  'ok',
]
const sent = [
  accepted('m1. tab\there'),
  accepted('/m2. echo hi', 'important'),
  accepted('#m3. echo hi', 'important'),
  accepted('/'),
  accepted('ok'),
]

test('[SM-43] what a model was told is held against what was sent: all of it, once and in order', () => {
  expect(findings(sent, told)).toEqual([])
  expect(findings(sent, told.slice(0, -1))).toEqual(['lost: "ok" (sequential)'])
  expect(findings(sent, [...told, 'Message: /'])).toEqual(['doubled: "Message: /"'])
  expect(findings(sent, told.with(2, 'm1. tab    here draft-1 half a thought'))).toHaveLength(2)
  expect(findings(sent, told.with(3, 'Stop hook feedback:\n/m2. echo'))).toHaveLength(2)
  expect(findings(sent, told.toReversed())).toContainEqual(expect.stringMatching(/^out of order/))
})

test('[MUS-324] a joiner that joins nothing may be left out, one that joins may not', () => {
  const same = (told: string, text: string) => isSame({ text: told, how: 'typed' }, text)
  expect(same('m1.\n👩\n👧.', 'm1.\n\u200D👩\u200D\n👧.')).toBe(true)
  expect(same('m1. 👩👧', 'm1. 👩\u200D👧')).toBe(false)
  expect(same('m1. 👩🏽👧', 'm1. 👩🏽\u200D👧')).toBe(false)
})

test('[SM-43] a conversation that is sent again tells nothing twice, and what has left it may come anew', () => {
  const heard = new Heard()
  const listen = (...texts: string[]) => heard.listen(takenFrom(texts)).map(({ text }) => text)
  expect(listen('Begin.', 'm1. x', 'ok')).toEqual(['m1. x', 'ok'])
  expect(listen('Begin.', 'm1. x\n', 'ok')).toEqual([])
  expect(listen('Begin.', 'm1. x')).toEqual([])
  expect(listen('Begin.', 'm1. x', 'ok')).toEqual(['ok'])
  // Claude Code 2.1.197 wraps a hook's words at first, and no more once something follows.
  const note = 'PostToolUse:Bash hook additional context: #m2. echo hi'
  const start = ['Begin.', 'm1. x', 'ok', 'ok']
  expect(listen(...start, `<system-reminder>\n${note}\n</system-reminder>`)).toEqual(['ok', '#m2. echo hi'])
  expect(listen(...start, note, 'm3. y')).toEqual(['m3. y'])
  expect(heard.all).toHaveLength(6)
})
