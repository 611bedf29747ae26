import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { fakeField } from '../support/delivery/fake-field.ts'
import { readPane, sitDown } from '../support/delivery/person.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** Calm sessions of a program that tells what it takes, and `sm` from its source. */
async function calm(sessions: number) {
  const field = await fakeField(tempFolder('md-'), { sessions, seed: 1, isCalm: true })
  onTestFinished(() => field.close())
  const env = { PATH: process.env['PATH'], HOME: field.home, MUSTER_HOME: field.home, TZ: 'UTC' }
  const sm = (args: readonly string[], input = '') =>
    runProgram(process.execPath, [smProgram, ...args], { cwd: field.home, env, input })
  const ids = field.targets.map(({ id }) => id)
  const taken = (i: number) => field.targets[i]?.taken().map(({ text }) => text) ?? []
  return { field, sm, ids, taken }
}

test('[SM-42] sm send: several at once, from a pipe and a file, waited for; what is taken is said to be sent', async () => {
  const { field, sm, ids, taken } = await calm(2)
  const sent = await sm(['send', ids.join(','), 'hello both', '--wait', '120'])
  expect(sent).toMatchObject({ code: 0 })
  expect(sent.stdout.trim().split('\n')).toEqual(ids.map((id) => `Input sent to session ${id}`))
  expect((await sm(['send', ids[0] ?? '', '-', '--wait', '120'], 'from a pipe\nof two lines')).code).toBe(0)
  const file = join(field.home, 'brief.md')
  writeFileSync(file, '!from a file')
  expect((await sm(['send', ids[0] ?? '', '--file', file, '--wait', '120'])).code).toBe(0)
  expect(taken(0)).toEqual(['hello both', 'from a pipe\nof two lines', 'Message: !from a file'])
  expect(taken(1)).toEqual(['hello both'])
})

test('[SM-42][SM-43] a draft of a person holds messages back, which is told, and they go when it is gone', async () => {
  const { field, sm, ids, taken } = await calm(1)
  const [id = ''] = ids
  const terminal = `=${field.targets[0]?.tmuxSession ?? ''}:`
  await eventually(
    async () => field.tmux('capture-pane', '-p', '-t', terminal),
    (screen) => screen.includes('❯'),
  )
  field.tmux('send-keys', '-t', terminal, '-l', 'half a thought')
  const held = await sm(['send', id, 'from the parent', '--wait', '3'])
  expect(held.code).toBe(4)
  expect(held.stderr).toContain('not accepted after 3 s')
  expect(held.stderr).toContain('holds a text that was not sent')
  expect(taken(0)).toEqual([])
  field.tmux('send-keys', '-t', terminal, 'C-u')
  await eventually(
    async () => taken(0),
    (texts) => texts.length > 0,
  )
  expect(taken(0)).toEqual(['from the parent'])
})

test('[MUS-322][MUS-323] a prompt of a person that comes back into the box is theirs: it stays, messages wait, and all that shows them says why', async () => {
  const { field, sm, ids, taken } = await calm(1)
  const [id = ''] = ids
  const terminal = `=${field.targets[0]?.tmuxSession ?? ''}:`
  const box = () => readPane(field.socket, field.targets[0]?.tmuxSession ?? '', field).composer
  // What Muster typed before is no reason to take what a person typed.
  expect((await sm(['send', id, 'before it', '--wait', '120'])).code).toBe(0)
  await eventually(
    () => field.daemon.ask((client) => client.getSession({ id })),
    ({ status }) => status === 'idle',
  )
  field.tmux('send-keys', '-t', terminal, '-l', 'think for 60000 ms')
  field.tmux('send-keys', '-t', terminal, 'Enter')
  await eventually(
    async () => taken(0),
    (texts) => texts.includes('think for 60000 ms'),
  )
  await eventually(
    () => field.daemon.ask((client) => client.getSession({ id })),
    ({ status }) => status === 'running',
  )
  field.tmux('send-keys', '-t', terminal, 'Escape')
  await eventually(
    async () => box(),
    ({ state }) => state === 'text',
  )
  const sent = await field.daemon.ask((client) => client.sendMessage({ id, text: 'from the parent' }))
  const why = /holds a text that was not sent/
  const shown = await eventually(
    () => field.daemon.ask((client) => client.getMessage({ message: sent.message_id })),
    ({ detail }) => detail !== null && why.test(detail),
  )
  expect(shown.state).toBe('queued')
  expect((await sm(['messages', id])).stdout).toContain('[its input box')
  expect((await sm(['progress', id])).stdout).toMatch(/Queued: 1 message: .*holds a text/)
  expect(await field.daemon.ask((client) => client.getSession({ id }))).toMatchObject({
    queued_messages: 1,
    queued_reason: expect.stringMatching(why),
  })
  const behind = await sm(['send', id, 'the next'])
  expect(behind.stdout).toMatch(/^Queued for session \w+ \(\w+\): it waits behind another message, because/)
  expect(box()).toEqual({ state: 'text', text: 'think for 60000 ms' })
  field.tmux('send-keys', '-t', terminal, 'C-u')
  await eventually(
    async () => taken(0),
    (texts) => texts.length === 4,
  )
  expect(taken(0)).toEqual(['before it', 'think for 60000 ms', 'from the parent', 'the next'])
})

test('[SM-42] a message without an end when its session is killed is a dead letter with its reason, and listed', async () => {
  const { field, sm, ids, taken } = await calm(1)
  const [id = ''] = ids
  const terminal = `=${field.targets[0]?.tmuxSession ?? ''}:`
  field.tmux('send-keys', '-t', terminal, '-l', 'half a thought')
  await field.daemon.ask((client) => client.sendMessage({ id, text: 'never to be read' }))
  await field.daemon.ask((client) => client.killSession({ id, force: true }))
  const listed = await sm(['messages', id, '--failed', '--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({
    messages: [{ preview: 'never to be read', state: 'failed', detail: expect.stringMatching(/\S/) }],
  })
  expect(taken(0)).toEqual([])
})

test('[SM-43] what a hook brings overtakes nothing: not what another hook brought, nor with a prompt that may wait behind it', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const session = await m.spawn()
  await m.turn(session, {
    prompt: 'do it',
    tools: [{ name: 'Bash', input: { command: 'ls' } }],
    isOpen: true,
  })
  const id = session.session_id
  for (const text of ['the first', 'the second']) await m.client.sendMessage({ id, text, mode: 'important' })
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_x', tool_response: {} }
  const ended = { hook_event_name: 'Stop', last_assistant_message: '', background_tasks: [] }
  const told = async (event: Readonly<Record<string, unknown>>) =>
    JSON.parse((await m.hook(session, event)).body ?? '{}') as unknown
  expect(await told({ hook_event_name: 'UserPromptSubmit', prompt: 'of a person' })).toEqual({})
  expect(await told({ hook_event_name: 'PostToolUse', ...call })).toMatchObject({
    hookSpecificOutput: { additionalContext: 'the first' },
  })
  expect(await told(ended)).toEqual({})
  await m.write(session, {
    type: 'attachment',
    attachment: { type: 'hook_additional_context', content: ['the first'], hookEvent: 'PostToolUse' },
  })
  await eventually(
    () => m.client.listMessages({ id }),
    ({ messages }) => messages.some(({ preview, state }) => preview === 'the first' && state === 'accepted'),
  )
  expect(await told(ended)).toEqual({ decision: 'block', reason: 'the second' })
})

test('[SM-43][MUS-245] letters of an old picture in the box hold nothing up: it is drawn again', async () => {
  const { sm, ids, taken } = await calm(1)
  const sent = await sm(['send', ids[0] ?? '', 'smeared', '--wait', '120'])
  expect(sent).toMatchObject({ code: 0 })
  expect(taken(0)).toEqual(['smeared'])
})

test('[SM-43] an urgent message presses no key while a person types, whose next letter would make another key of it', async () => {
  const { field, ids, taken } = await calm(1)
  const [id = ''] = ids
  const send = (text: string, mode: 'sequential' | 'urgent') =>
    field.daemon.ask((client) => client.sendMessage({ id, text, mode }))
  await send('work for 60000 ms', 'sequential')
  await eventually(
    async () => taken(0),
    (texts) => texts.length === 1,
  )
  const person = await sitDown(field.socket, field.targets[0]?.tmuxSession ?? '', field)
  await send('stop that', 'urgent')
  // Longer than a prompt is given to be heard: only the person holds it back by then.
  for (let n = 0; n < 26; n++) {
    person.type('t')
    await sleep(500)
  }
  expect(field.count('interrupt')).toBe(0)
  expect(person.look().composer).toEqual({ state: 'text', text: 't'.repeat(26) })
  person.keys('C-u')
  person.leave()
  await eventually(
    async () => taken(0),
    (texts) => texts.length === 2,
  )
  expect(taken(0)).toEqual(['work for 60000 ms', 'stop that'])
  expect(field.count('interrupt')).toBe(1)
})

test('[MUS-335] a key that a busy program missed is pressed again: an interrupt needs no luck', async () => {
  const { field, sm, ids, taken } = await calm(1)
  const [id = ''] = ids
  await field.daemon.ask((client) => client.sendMessage({ id, text: 'numb for 300000 ms' }))
  await eventually(
    async () => taken(0),
    (texts) => texts.length === 1,
  )
  const told = await eventually(
    () => sm(['interrupt', id]),
    ({ code }) => code !== 4,
  )
  expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Interrupted /) })
  expect(field.count('interrupt')).toBe(1)
})
