import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root, runProgram } from '../cli/run-sm.ts'
import { fakeField } from '../support/delivery/fake-field.ts'
import { eventually } from '../support/session-daemon.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** Calm sessions of a program that tells what it takes, and `sm` from its source. */
async function calm(sessions: number) {
  const field = await fakeField(tempFolder('md-'), { sessions, seed: 1, isCalm: true })
  onTestFinished(() => field.close())
  const env = { PATH: process.env['PATH'], HOME: field.home, MUSTER_HOME: field.home, TZ: 'UTC' }
  const sm = (args: readonly string[], input = '') =>
    runProgram(process.execPath, [join(root, 'src/cli/main.ts'), ...args], { cwd: field.home, env, input })
  const ids = field.targets.map(({ id }) => id)
  const taken = (i: number) => field.targets[i]?.taken().map(({ text }) => text) ?? []
  return { field, sm, ids, taken }
}

test('[SM-42] sm send: several at once, from a pipe and a file, waited for; what is taken is said to be sent', async () => {
  const { field, sm, ids, taken } = await calm(2)
  const sent = await sm(['send', ids.join(','), 'hello both', '--wait', '40'])
  expect(sent).toMatchObject({ code: 0 })
  expect(sent.stdout.trim().split('\n')).toEqual(ids.map((id) => `Input sent to session ${id}`))
  expect((await sm(['send', ids[0] ?? '', '-', '--wait', '40'], 'from a pipe\nof two lines')).code).toBe(0)
  const file = join(field.home, 'brief.md')
  writeFileSync(file, '!from a file')
  expect((await sm(['send', ids[0] ?? '', '--file', file, '--wait', '40'])).code).toBe(0)
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
  expect(taken(0)).toEqual([])
  field.tmux('send-keys', '-t', terminal, 'C-u')
  await eventually(
    async () => taken(0),
    (texts) => texts.length > 0,
    30_000,
  )
  expect(taken(0)).toEqual(['from the parent'])
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
