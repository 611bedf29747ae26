import { expect, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'

/** A program that takes its first prompt as an argument, and everything after it from its terminal. */
const config = `clis:
  mine:
    command: bash
    args: ['-c', 'echo "began with: $0"; while read -r line; do echo "heard: $line"; done']
    prompt: argument
`

test('[MUS-338] a program of one’s own that takes its prompt as an argument can be messaged', async () => {
  const m = await sessionDaemon({ config })
  const { session_id: id } = await m.client.spawnSession({
    agent_type: 'mine',
    prompt: 'the task',
    working_dir: m.home,
  })
  const shows = (words: string) =>
    eventually(
      async () => (await m.client.getOutput({ id, lines: 40 })).lines.join('\n'),
      (text) => text.includes(words),
    )
  await shows('began with: the task')
  await m.client.sendMessage({ id, text: 'one more thing' })
  await shows('heard: one more thing')
  const { messages } = await eventually(
    () => m.client.listMessages({ id }),
    (found) => found.messages.every(({ state }) => state !== 'queued' && state !== 'pasted'),
  )
  expect(messages.map(({ preview, state }) => [preview, state])).toEqual([
    ['the task', 'accepted'],
    ['one more thing', 'accepted'],
  ])
})

test('[MUS-335] that Ctrl-C was pressed in a program that tells nothing is not called an interrupt', async () => {
  const m = await sessionDaemon({ config })
  const { id } = await m.client.spawnSession({ agent_type: 'mine', prompt: 'x', working_dir: m.home })
  await expect(m.client.interruptSession({ id })).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('does not tell Muster whether it stopped'),
  })
})
